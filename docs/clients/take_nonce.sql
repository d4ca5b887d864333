-- Takes the nonce of a sign-in that began less than ten minutes ago. The row is deleted, so no second request finds it.
DELETE FROM sign_ins WHERE id = :id AND begun_at > :now - 600 RETURNING nonce;
