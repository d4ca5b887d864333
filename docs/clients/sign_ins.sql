-- Sign-ins that have begun. `id` is random, and is what the session cookie or the app's handle holds.
CREATE TABLE sign_ins (
    id       TEXT PRIMARY KEY,
    nonce    TEXT NOT NULL,
    begun_at BIGINT NOT NULL -- Unix seconds
);

-- An address may change hands, and a subject is one provider's own: only both together are a person.
CREATE TABLE users (
    id      INTEGER PRIMARY KEY,
    issuer  TEXT NOT NULL,
    subject TEXT NOT NULL,
    UNIQUE (issuer, subject)
);
