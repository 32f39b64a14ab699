-- CreateTable
CREATE TABLE "signing_key" (
    "number" INTEGER NOT NULL,
    "id" VARCHAR(43) NOT NULL,
    "public_key" BYTEA NOT NULL,
    "private_key_encrypted" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "signs_from" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "signing_key_pkey" PRIMARY KEY ("number")
);

-- CreateIndex
CREATE UNIQUE INDEX "signing_key_id_key" ON "signing_key"("id");
