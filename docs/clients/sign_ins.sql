-- Sign-ins that have begun. `id` is random; the session cookie or the app holds it.
CREATE TABLE sign_ins (
    id       TEXT PRIMARY KEY,
    nonce    TEXT NOT NULL,
    begun_at BIGINT NOT NULL -- Unix seconds
);
