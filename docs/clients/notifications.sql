-- Senders repeat deliveries. Insert the row in the transaction that acts on the events: a notification with a row was processed before.
CREATE TABLE notifications (
    provider    TEXT NOT NULL,
    id          TEXT NOT NULL,
    received_at BIGINT NOT NULL, -- Unix seconds; rows older than 90 days may be deleted
    PRIMARY KEY (provider, id)
);
