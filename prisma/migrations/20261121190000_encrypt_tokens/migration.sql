-- Encrypts user group tokens. SQL has no key, so the gateway fills the new columns before it runs this file, in the same
-- transaction (src/database/encrypt-tokens.ts). Another tool can apply this file to a database without tokens only; otherwise it
-- fails as a whole, with the text below, and nothing is changed.
ALTER TABLE "user_group" ADD COLUMN IF NOT EXISTS "token_hash" BYTEA, ADD COLUMN IF NOT EXISTS "token_encrypted" BYTEA;
ALTER TABLE "retired_token" ADD COLUMN IF NOT EXISTS "token_hash" BYTEA, ADD COLUMN IF NOT EXISTS "token_encrypted" BYTEA;

DO $$
BEGIN
  IF EXISTS (SELECT FROM "user_group" WHERE "token_hash" IS NULL) OR EXISTS (SELECT FROM "retired_token" WHERE "token_hash" IS NULL) THEN
    RAISE EXCEPTION 'The user group tokens in this database must be encrypted, which SQL cannot do. Apply this migration with the gateway''s own command "migrate".';
  END IF;
END $$;

-- The changes of type change no type: they make PostgreSQL write the tables anew, from their current rows, into new files. The
-- old files, which hold tokens as text, go with the transaction.
ALTER TABLE "user_group"
  DROP COLUMN "token",
  ALTER COLUMN "token_hash" SET NOT NULL,
  ALTER COLUMN "token_encrypted" SET NOT NULL,
  ALTER COLUMN "token_encrypted" TYPE BYTEA USING "token_encrypted" || ''::bytea;

ALTER TABLE "retired_token"
  DROP COLUMN "token",
  ALTER COLUMN "token_hash" SET NOT NULL,
  ALTER COLUMN "token_encrypted" SET NOT NULL,
  ALTER COLUMN "token_encrypted" TYPE BYTEA USING "token_encrypted" || ''::bytea,
  ADD CONSTRAINT "retired_token_pkey" PRIMARY KEY ("token_hash");

-- CreateIndex
CREATE UNIQUE INDEX "user_group_token_hash_key" ON "user_group"("token_hash");
