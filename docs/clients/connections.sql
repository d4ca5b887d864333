-- A customer's connection to its own provider. Everything in it is the customer's word: it may decide about this customer's
-- users, and about nobody else's.
CREATE TABLE connections (
    id           TEXT PRIMARY KEY,           -- random, and part of the redirect URI; never used again for another customer
    customer     TEXT NOT NULL,
    issuer       TEXT NOT NULL,
    client_id    TEXT NOT NULL,
    auth         TEXT NOT NULL CHECK (auth IN ('client_secret_post', 'client_secret_basic', 'private_key_jwt', 'none')),
    claim_values TEXT NOT NULL DEFAULT '{}', -- JSON, such as {"hd": ["example.com"]}
    is_tested    INTEGER NOT NULL DEFAULT 0, -- a token passed; 0 again after any change
    is_enabled   INTEGER NOT NULL DEFAULT 0
    -- No secret: the secret manager has it, under the connection's id.
);

-- A domain whose addresses sign in through the connection, and for which it may speak. It counts once DNS has the challenge:
-- only one connection can prove a domain, but any customer may ask for it.
CREATE TABLE domains (
    connection TEXT NOT NULL REFERENCES connections (id),
    name       TEXT NOT NULL, -- lower case, in ASCII
    challenge  TEXT NOT NULL,
    proved_at  BIGINT,        -- Unix seconds
    PRIMARY KEY (connection, name)
);
CREATE UNIQUE INDEX proved_domains ON domains (name) WHERE proved_at IS NOT NULL;

-- A subject is unique only within its issuer, and an issuer is the customer's only within its connection: another customer
-- may name the same issuer, with a client of its own.
CREATE TABLE connection_users (
    user_id    INTEGER PRIMARY KEY,
    customer   TEXT NOT NULL,
    connection TEXT NOT NULL REFERENCES connections (id),
    issuer     TEXT NOT NULL,
    subject    TEXT NOT NULL,
    UNIQUE (connection, issuer, subject)
);
