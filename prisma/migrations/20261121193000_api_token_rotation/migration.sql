-- The secrets that rotations of API tokens replaced. A version that does not know the table goes on with the current secrets.
-- CreateTable
CREATE TABLE "retired_secret" (
    "secret_hash" BYTEA NOT NULL,
    "api_token_id" INTEGER NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "retired_secret_pkey" PRIMARY KEY ("secret_hash")
);

-- CreateIndex
CREATE INDEX "retired_secret_api_token_id_idx" ON "retired_secret"("api_token_id");

-- AddForeignKey
ALTER TABLE "retired_secret" ADD CONSTRAINT "retired_secret_api_token_id_fkey" FOREIGN KEY ("api_token_id") REFERENCES "api_token"("id") ON DELETE CASCADE ON UPDATE CASCADE;
