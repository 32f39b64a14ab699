-- The audit log. A version that does not know the table goes on without recording its changes.
-- CreateEnum
CREATE TYPE "event_environment" AS ENUM ('Customer', 'Testing', 'Untagged', 'None');

-- CreateEnum
CREATE TYPE "actor_kind" AS ENUM ('API_TOKEN', 'CLI', 'SYSTEM');

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

    CONSTRAINT "event_pkey" PRIMARY KEY ("environment", "occurred_at", "id")
);

-- CreateIndex
CREATE INDEX "event_team_id_occurred_at_id_idx" ON "event"("team_id", "occurred_at", "id");

-- CreateIndex
CREATE INDEX "event_actor_api_token_id_occurred_at_id_idx" ON "event"("actor_api_token_id", "occurred_at", "id");

-- CreateIndex
CREATE INDEX "event_subject_api_token_id_occurred_at_id_idx" ON "event"("subject_api_token_id", "occurred_at", "id") WHERE (subject_api_token_id IS NOT NULL);

-- CreateIndex
CREATE INDEX "event_deleted_provided_id_team_id_idx" ON "event"("provided_id", "team_id") WHERE (type = 'user_group.deleted'::text);

-- CreateIndex
CREATE INDEX "event_rare_type_occurred_at_id_idx" ON "event"("type", "occurred_at", "id") WHERE (type <> ALL ('{user_group.created,user_group.updated,user_group.token_rotated}'::text[]));
