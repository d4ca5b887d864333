-- A subject is unique only within its issuer, so both together identify a user. An email address may change its owner.
CREATE TABLE users (
    id      INTEGER PRIMARY KEY,
    issuer  TEXT NOT NULL,
    subject TEXT NOT NULL,
    UNIQUE (issuer, subject)
);
