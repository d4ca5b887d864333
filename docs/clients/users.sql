-- An address may change hands, and a subject is one provider's own: only both together are a user.
CREATE TABLE users (
    id      INTEGER PRIMARY KEY,
    issuer  TEXT NOT NULL,
    subject TEXT NOT NULL,
    UNIQUE (issuer, subject)
);
