-- CreateEnum
CREATE TYPE "webhook_delivery_status" AS ENUM ('PENDING', 'DELIVERED', 'FAILED');

-- AlterTable
ALTER TABLE "event" ADD COLUMN     "position" BIGINT;

-- CreateTable
CREATE TABLE "event_feed" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "last_position" BIGINT NOT NULL DEFAULT 0,
    "removed_through" BIGINT NOT NULL DEFAULT 0,
    "epoch" UUID NOT NULL DEFAULT gen_random_uuid(),
    "origin" TEXT NOT NULL DEFAULT '',

CONSTRAINT "event_feed_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "event_feed_epoch" (
    "epoch" UUID NOT NULL,
    "last_position" BIGINT NOT NULL,

CONSTRAINT "event_feed_epoch_pkey" PRIMARY KEY ("epoch")
);

-- CreateTable
CREATE TABLE "webhook" (
    "id" SERIAL NOT NULL,
    "url" VARCHAR(2048) NOT NULL,
    "types" TEXT[],
    "environments" "event_environment"[],
    "description" VARCHAR(255),
    "secret_encrypted" BYTEA NOT NULL,
    "previous_secret_encrypted" BYTEA,
    "previous_secret_ends_at" TIMESTAMPTZ(3),
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "disabled_reason" VARCHAR(255),
    "position" BIGINT NOT NULL,
    "failing_since" TIMESTAMPTZ(3),
    "last_delivery_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

CONSTRAINT "webhook_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhook_delivery" (
    "id" BIGSERIAL NOT NULL,
    "webhook_id" INTEGER NOT NULL,
    "event_id" VARCHAR(100) NOT NULL,
    "type" TEXT NOT NULL,
    "body" TEXT NOT NULL,
    "status" "webhook_delivery_status" NOT NULL DEFAULT 'PENDING',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "in_flight" BOOLEAN NOT NULL DEFAULT false,
    "last_attempt_at" TIMESTAMPTZ(3),
    "response_status" INTEGER,
    "response_body" VARCHAR(1024),
    "error" VARCHAR(255),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

CONSTRAINT "webhook_delivery_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "webhook_delivery_webhook_id_id_idx" ON "webhook_delivery"("webhook_id", "id");

-- CreateIndex
CREATE INDEX "webhook_delivery_pending_idx" ON "webhook_delivery"("webhook_id", "next_attempt_at") WHERE (status = 'PENDING'::webhook_delivery_status);

-- CreateIndex
CREATE INDEX "webhook_delivery_created_at_idx" ON "webhook_delivery"("created_at");

-- AddForeignKey
ALTER TABLE "webhook_delivery" ADD CONSTRAINT "webhook_delivery_webhook_id_fkey" FOREIGN KEY ("webhook_id") REFERENCES "webhook"("id") ON DELETE CASCADE ON UPDATE CASCADE;

INSERT INTO "event_feed" DEFAULT VALUES;
