-- Sign-ins that have begun. `id` is random, and is what the session cookie or the app's handle holds.
CREATE TABLE sign_ins (
    id       TEXT PRIMARY KEY,
    nonce    TEXT NOT NULL,
    begun_at BIGINT NOT NULL -- Unix seconds
);
