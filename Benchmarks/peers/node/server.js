// Node's http and crypto, two processes.
//
// usage: node server.js PORT KEYS.json
const cluster = require("node:cluster");
const crypto = require("node:crypto");
const fs = require("node:fs");
const http = require("node:http");

function readKeys(file) {
  const keys = new Map();
  for (const jwk of JSON.parse(fs.readFileSync(file)).keys) {
    const key = crypto.createPublicKey({ key: jwk, format: "jwk" });
    keys.set(jwk.kid, { algorithm: jwk.alg, key: jwk.alg === "ES256" ? { key, dsaEncoding: "ieee-p1363" } : key });
  }
  return keys;
}

function decode(part) {
  return JSON.parse(Buffer.from(part, "base64url"));
}

/** The identity in a good token; otherwise null. */
function verify(keys, { id_token: token, nonce }) {
  const [header, payload, signature, ...rest] = token.split(".");
  if (signature === undefined || rest.length > 0) return null;
  const { kid, alg } = decode(header);
  const key = keys.get(kid);
  if (key?.algorithm !== alg) return null;
  const signed = Buffer.from(`${header}.${payload}`);
  if (!crypto.verify("sha256", signed, key.key, Buffer.from(signature, "base64url"))) return null;
  const claims = decode(payload);
  if (claims.iss !== "https://appleid.apple.com" || claims.aud !== "com.example.app") return null;
  if (!(claims.exp > Date.now() / 1000)) return null;
  if (nonce && crypto.createHash("sha256").update(nonce).digest("hex") !== claims.nonce) return null;
  return {
    issuer: claims.iss,
    subject: claims.sub,
    audience: [claims.aud],
    expires_at: claims.exp,
    issued_at: claims.iat,
    email: claims.email ?? null,
    email_verified: String(claims.email_verified) === "true",
    is_private_email: String(claims.is_private_email) === "true",
    real_user_status: claims.real_user_status ?? null,
  };
}

function serve(port, keys) {
  const server = http.createServer((request, response) => {
    const parts = [];
    request.on("data", (part) => parts.push(part));
    request.on("end", () => {
      let identity = null;
      try {
        identity = verify(keys, JSON.parse(Buffer.concat(parts)));
      } catch {
        // A body or token that can't be read is refused like a bad one.
      }
      const body = JSON.stringify(identity ?? { error: "invalid_token" });
      response.writeHead(identity ? 200 : 401, {
        "Content-Type": "application/json",
        "Content-Length": Buffer.byteLength(body),
      });
      response.end(body);
    });
  });
  server.listen(port, "127.0.0.1");
}

const [port, keyFile] = process.argv.slice(2);
if (cluster.isPrimary) {
  cluster.fork();
  cluster.fork();
} else {
  serve(Number(port), readKeys(keyFile));
}
