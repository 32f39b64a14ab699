-- CreateEnum
CREATE TYPE "environment_tag" AS ENUM ('Customer', 'Testing');

-- CreateEnum
CREATE TYPE "event_environment" AS ENUM ('Customer', 'Testing', 'Untagged', 'None');

-- CreateEnum
CREATE TYPE "actor_kind" AS ENUM ('API_TOKEN', 'CLI', 'SYSTEM');

-- CreateEnum
CREATE TYPE "webhook_delivery_status" AS ENUM ('PENDING', 'DELIVERED', 'FAILED');

-- Ids and names are ordered by code points ("C"), which is the same on every server and compares fastest.
-- CreateTable
CREATE TABLE "user_group" (
    "team_id" SERIAL NOT NULL,
    "provided_id" VARCHAR(255) COLLATE "C" NOT NULL,
    "environment_tag" "environment_tag",
    "name" VARCHAR(255) COLLATE "C" NOT NULL,
    "token_hash" BYTEA NOT NULL,
    "token_encrypted" BYTEA NOT NULL,
    "properties" JSON,
    "mapping" JSON NOT NULL DEFAULT '{}',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "version" INTEGER NOT NULL DEFAULT 1,
    "suspended" BOOLEAN NOT NULL DEFAULT false,
    "suspended_reason" VARCHAR(255),
    "last_resolved_at" TIMESTAMPTZ(3),
    "embed_generation" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "user_group_pkey" PRIMARY KEY ("team_id")
);

-- CreateTable
CREATE TABLE "retired_token" (
    "token_hash" BYTEA NOT NULL,
    "token_encrypted" BYTEA NOT NULL,
    "team_id" INTEGER NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "retired_token_pkey" PRIMARY KEY ("token_hash")
);

-- CreateTable
CREATE TABLE "revoked_viewer" (
    "team_id" INTEGER NOT NULL,
    "viewer_id" VARCHAR(255) NOT NULL,
    "generation" INTEGER NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "revoked_viewer_pkey" PRIMARY KEY ("team_id","viewer_id")
);

-- CreateTable
CREATE TABLE "api_token" (
    "id" SERIAL NOT NULL,
    "name" VARCHAR(255) NOT NULL,
    "secret_hash" BYTEA NOT NULL,
    "environment_tag" "environment_tag",
    "scopes" TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "rate_limit" INTEGER,

    CONSTRAINT "api_token_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "retired_secret" (
    "secret_hash" BYTEA NOT NULL,
    "api_token_id" INTEGER NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "retired_secret_pkey" PRIMARY KEY ("secret_hash")
);

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

-- CreateTable
CREATE TABLE "event" (
    "id" BIGSERIAL NOT NULL,
    "type" TEXT NOT NULL,
    "occurred_at" TIMESTAMPTZ(3) NOT NULL DEFAULT clock_timestamp(),
    "environment" "event_environment" NOT NULL,
    "actor_kind" "actor_kind" NOT NULL,
    "actor_name" VARCHAR(255) NOT NULL,
    "actor_api_token_id" INTEGER,
    "request_id" VARCHAR(128),
    "team_id" INTEGER,
    "provided_id" VARCHAR(255),
    "subject_api_token_id" INTEGER,
    "changes" JSON,
    "position" BIGINT,

    CONSTRAINT "event_pkey" PRIMARY KEY ("environment","occurred_at","id")
);

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
    "leased_until" TIMESTAMPTZ(6),
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
    "last_attempt_at" TIMESTAMPTZ(3),
    "response_status" INTEGER,
    "response_body" VARCHAR(1024),
    "error" VARCHAR(255),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "webhook_delivery_pkey" PRIMARY KEY ("id")
);

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

-- A crash may lose it.
-- CreateTable
CREATE UNLOGGED TABLE "request_count" (
    "second" BIGINT NOT NULL,
    "api_token_id" INTEGER NOT NULL,
    "count" INTEGER NOT NULL,

    CONSTRAINT "request_count_pkey" PRIMARY KEY ("second","api_token_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "user_group_token_hash_key" ON "user_group"("token_hash");

-- CreateIndex
CREATE INDEX "user_group_environment_tag_created_at_team_id_idx" ON "user_group"("environment_tag", "created_at", "team_id");

-- CreateIndex
CREATE INDEX "user_group_environment_tag_updated_at_team_id_idx" ON "user_group"("environment_tag", "updated_at", "team_id");

-- CreateIndex
CREATE INDEX "user_group_environment_tag_name_team_id_idx" ON "user_group"("environment_tag", "name", "team_id");

-- CreateIndex
CREATE INDEX "user_group_environment_tag_provided_id_idx" ON "user_group"("environment_tag", "provided_id");

-- CreateIndex
CREATE INDEX "user_group_suspended_idx" ON "user_group"("environment_tag", "created_at", "team_id") WHERE (suspended);

-- The search for a part of the name or the id, in the collation of the database: "C" folds the case of ASCII letters only. The
-- extension may already exist, in any schema.
CREATE EXTENSION IF NOT EXISTS "pg_trgm";
DO $$
DECLARE
    operators text := (SELECT format('%I.gin_trgm_ops', nspname) FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE extname = 'pg_trgm');
BEGIN
    EXECUTE format(
        'CREATE INDEX user_group_search_idx ON user_group USING gin (name COLLATE "default" %1$s, provided_id COLLATE "default" %1$s)',
        operators
    );
END
$$;

-- CreateIndex
CREATE UNIQUE INDEX "user_group_provided_id_customer_key" ON "user_group"("provided_id") WHERE (environment_tag IS DISTINCT FROM 'Testing'::environment_tag);

-- CreateIndex
CREATE UNIQUE INDEX "user_group_provided_id_testing_key" ON "user_group"("provided_id") WHERE (environment_tag IS DISTINCT FROM 'Customer'::environment_tag);

-- CreateIndex
CREATE INDEX "retired_token_team_id_idx" ON "retired_token"("team_id");

-- CreateIndex
CREATE INDEX "revoked_viewer_expires_at_idx" ON "revoked_viewer"("expires_at");

-- CreateIndex
CREATE UNIQUE INDEX "api_token_secret_hash_key" ON "api_token"("secret_hash");

-- CreateIndex
CREATE INDEX "retired_secret_api_token_id_idx" ON "retired_secret"("api_token_id");

-- CreateIndex
CREATE UNIQUE INDEX "signing_key_id_key" ON "signing_key"("id");

-- CreateIndex
CREATE INDEX "event_team_id_occurred_at_id_idx" ON "event"("team_id", "occurred_at", "id");

-- CreateIndex
CREATE INDEX "event_actor_api_token_id_occurred_at_id_idx" ON "event"("actor_api_token_id", "occurred_at", "id");

-- CreateIndex
CREATE INDEX "event_subject_api_token_id_occurred_at_id_idx" ON "event"("subject_api_token_id", "occurred_at", "id") WHERE (subject_api_token_id IS NOT NULL);

-- CreateIndex
CREATE INDEX "event_deleted_provided_id_team_id_idx" ON "event"("provided_id", "team_id") WHERE (type = 'user_group.deleted'::text);

-- CreateIndex
CREATE INDEX "event_environment_position_idx" ON "event"("environment", "position") WHERE (position IS NOT NULL);

-- CreateIndex
CREATE INDEX "event_unpositioned_idx" ON "event"("id") WHERE (position IS NULL);

-- CreateIndex
CREATE INDEX "event_rare_type_occurred_at_id_idx" ON "event"("type", "occurred_at", "id") WHERE (type <> ALL ('{user_group.created,user_group.updated,user_group.token_rotated}'::text[]));

-- CreateIndex
CREATE INDEX "webhook_delivery_webhook_id_id_idx" ON "webhook_delivery"("webhook_id", "id");

-- CreateIndex
CREATE INDEX "webhook_delivery_pending_idx" ON "webhook_delivery"("webhook_id", "next_attempt_at") WHERE (status = 'PENDING'::webhook_delivery_status);

-- CreateIndex
CREATE INDEX "webhook_delivery_webhook_id_status_id_idx" ON "webhook_delivery"("webhook_id", "status", "id");

-- CreateIndex
CREATE INDEX "webhook_delivery_created_at_idx" ON "webhook_delivery"("created_at");

-- CreateIndex
CREATE INDEX "idempotency_record_encryption_key_id_created_at_idx" ON "idempotency_record"("encryption_key_id", "created_at");

-- AddForeignKey
ALTER TABLE "retired_token" ADD CONSTRAINT "retired_token_team_id_fkey" FOREIGN KEY ("team_id") REFERENCES "user_group"("team_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "revoked_viewer" ADD CONSTRAINT "revoked_viewer_team_id_fkey" FOREIGN KEY ("team_id") REFERENCES "user_group"("team_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "retired_secret" ADD CONSTRAINT "retired_secret_api_token_id_fkey" FOREIGN KEY ("api_token_id") REFERENCES "api_token"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook_delivery" ADD CONSTRAINT "webhook_delivery_webhook_id_fkey" FOREIGN KEY ("webhook_id") REFERENCES "webhook"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- The feed has one row.
INSERT INTO "event_feed" DEFAULT VALUES;
