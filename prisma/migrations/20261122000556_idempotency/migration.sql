-- CreateTable
CREATE TABLE "idempotency_record" (
    "api_token_id" INTEGER NOT NULL,
    "key_hash" BYTEA NOT NULL,
    "fingerprint" BYTEA NOT NULL,
    "encryption_key_id" BYTEA NOT NULL,
    "response_encrypted" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

CONSTRAINT "idempotency_record_pkey" PRIMARY KEY ("api_token_id","key_hash")
);

-- CreateIndex
CREATE INDEX "idempotency_record_encryption_key_id_created_at_idx" ON "idempotency_record"("encryption_key_id", "created_at");
