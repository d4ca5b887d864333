-- Senders repeat deliveries. The row is inserted in the transaction that acts on the events: what is there has taken effect.
CREATE TABLE notifications (
    provider    TEXT NOT NULL,
    id          TEXT NOT NULL,
    received_at BIGINT NOT NULL, -- Unix seconds; older than 90 days may be deleted
    PRIMARY KEY (provider, id)
);
