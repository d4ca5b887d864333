-- A refresh token belongs to one provider, client and user. Take none of these from a request.
CREATE TABLE grants (
    user_id       INTEGER NOT NULL REFERENCES users (id),
    provider      TEXT NOT NULL,
    audience      TEXT NOT NULL,
    issuer        TEXT NOT NULL,
    subject       TEXT NOT NULL,
    refresh_token TEXT NOT NULL, -- encrypt it at rest
    PRIMARY KEY (user_id, provider, audience)
);
