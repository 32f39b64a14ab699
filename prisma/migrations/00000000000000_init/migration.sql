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

-- What the audit log has of each column of the audited tables:
-- field, enum, status, time, origin: its value, under the name that the API has for it; of a URL its origin alone
-- object: the members that differ
-- secret: only that it changed
-- revocation: an event, and no version
-- bookkeeping: neither an event nor a version
-- The event of a creation has a value unless it is the initial one; a column without an initial value is not in it.
-- CreateTable
CREATE TABLE "audited_column" (
    "table_name" TEXT NOT NULL,
    "column_name" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "field" TEXT,
    "initial" JSONB,

    CONSTRAINT "audited_column_pkey" PRIMARY KEY ("table_name","column_name")
);

INSERT INTO "audited_column" VALUES
    ('user_group', 'provided_id', 'field', 'providedId', NULL),
    ('user_group', 'environment_tag', 'enum', 'environmentTag', NULL),
    ('user_group', 'name', 'field', 'name', 'null'),
    ('user_group', 'token_hash', 'secret', 'token', NULL),
    ('user_group', 'mapping', 'object', 'mapping', '{}'),
    ('user_group', 'properties', 'object', 'properties', 'null'),
    ('user_group', 'suspended', 'status', 'status', 'false'),
    ('user_group', 'suspended_reason', 'field', 'suspendedReason', 'null'),
    ('user_group', 'embed_generation', 'revocation', NULL, NULL),
    ('api_token', 'name', 'field', 'name', 'null'),
    ('api_token', 'environment_tag', 'enum', 'environmentTag', 'null'),
    ('api_token', 'scopes', 'field', 'scopes', '[]'),
    ('api_token', 'expires_at', 'time', 'expiresAt', 'null'),
    ('api_token', 'rate_limit', 'field', 'rateLimit', 'null'),
    ('api_token', 'enabled', 'field', 'enabled', 'true'),
    ('api_token', 'revoked_at', 'time', 'revokedAt', 'null'),
    ('api_token', 'secret_hash', 'secret', 'secret', NULL),
    ('webhook', 'url', 'origin', 'url', 'null'),
    ('webhook', 'types', 'field', 'types', '[]'),
    ('webhook', 'environments', 'enum', 'environments', '[]'),
    ('webhook', 'description', 'field', 'description', 'null'),
    ('webhook', 'enabled', 'field', 'enabled', 'null'),
    ('webhook', 'disabled_reason', 'field', 'disabledReason', 'null'),
    ('webhook', 'secret_encrypted', 'secret', 'secret', NULL);

INSERT INTO "audited_column" SELECT "table_name", unnest("columns"::text[]), 'bookkeeping' FROM (VALUES
    ('user_group', '{team_id,token_encrypted,last_resolved_at,created_at,updated_at,version}'),
    ('api_token', '{id,created_at,last_used_at}'),
    ('webhook', '{id,previous_secret_encrypted,previous_secret_ends_at,position,failing_since,last_delivery_at,leased_until,created_at}')
) AS b ("table_name", "columns");

-- Gives a changed group its next version and time. An update that changes nothing keeps both.
CREATE FUNCTION "set_version"() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    unversioned text[] := (SELECT array_agg(column_name) FROM audited_column
        WHERE table_name = TG_TABLE_NAME AND kind IN ('bookkeeping', 'revocation'));
BEGIN
    NEW.version := OLD.version;
    NEW.updated_at := OLD.updated_at;
    IF to_jsonb(NEW) - unversioned IS DISTINCT FROM to_jsonb(OLD) - unversioned THEN
        NEW.version := OLD.version % 2147483647 + 1;
        NEW.updated_at := greatest(clock_timestamp(), OLD.updated_at + interval '1 millisecond');
    END IF;
    RETURN NEW;
END
$$;

-- A value as an event has it.
CREATE FUNCTION "audited_value"("kind" text, "value" jsonb) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN CASE
        WHEN kind = 'secret' OR value IS NULL OR value IN ('null', '[]') THEN 'null'
        WHEN kind = 'enum' THEN upper(value::text COLLATE "C")
        WHEN kind = 'status' THEN CASE value::text WHEN 'true' THEN '"SUSPENDED"' ELSE '"ACTIVE"' END
        WHEN kind = 'time' THEN to_json(to_char((value #>> '{}')::timestamptz AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text
        WHEN kind = 'origin' THEN to_json(regexp_replace(value #>> '{}', '^([^:]*://)(?:[^/?#@]*@)?([^/?#]*).*$', '\1\2'))::text
        ELSE value::text
    END;
END
$$;

-- What an event has of a large value.
CREATE FUNCTION "audited_digest"("value" text) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT '{"bytes":' || octet_length(value) || ',"sha256":"' || encode(sha256(convert_to(value, 'UTF8')), 'hex') || '"}'
$$;

-- The members that differ between two JSON objects, of which each may be null. A value above 4 KiB is in "omitted", with its
-- length and SHA-256: within "from" and "to", what stands for a value could be a value itself.
CREATE FUNCTION "audited_members"("before" json, "after" json) RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (WITH differing AS (
        SELECT to_json(key)::text || ':' AS name, o.value::text AS old_text, n.value::text AS new_text,
            octet_length(o.value::text) > 4096 AS is_old_large, octet_length(n.value::text) > 4096 AS is_new_large
        FROM json_each("before") AS o FULL JOIN json_each("after") AS n USING (key)
        WHERE o.value::jsonb IS DISTINCT FROM n.value::jsonb
    )
    SELECT '"from":' || CASE WHEN "before" IS NULL THEN 'null'
            ELSE '{' || coalesce(string_agg(name || old_text, ',') FILTER (WHERE NOT is_old_large), '') || '}' END
        || ',"to":' || CASE WHEN "after" IS NULL THEN 'null'
            ELSE '{' || coalesce(string_agg(name || new_text, ',') FILTER (WHERE NOT is_new_large), '') || '}' END
        || CASE WHEN bool_or(is_old_large) OR bool_or(is_new_large) THEN ',"omitted":{"from":{'
            || coalesce(string_agg(name || audited_digest(old_text), ',') FILTER (WHERE is_old_large), '') || '},"to":{'
            || coalesce(string_agg(name || audited_digest(new_text), ',') FILTER (WHERE is_new_large), '') || '}}' ELSE '' END
    FROM differing);
END
$$;

-- Records an event of each change, however it was made. Whoever makes it sets gateway.actor, for its transaction.
CREATE FUNCTION "record_event"() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    actor jsonb := coalesce(nullif(current_setting('gateway.actor', true), ''), '{"kind":"SYSTEM","name":"database"}');
    was jsonb := CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END;
    became jsonb := CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) END;
    subject jsonb := coalesce(became, was);
    changed text[];
    changes text;
    event_type text;
    event_environment text;
BEGIN
    IF TG_TABLE_NAME = 'revoked_viewer' THEN
        event_type := 'embed_token.revoked';
        changes := '"viewerId":{"from":null,"to":' || (became -> 'viewer_id')::text || '}';
        subject := (SELECT to_jsonb(g) FROM user_group g WHERE g.team_id = NEW.team_id);
    ELSIF TG_TABLE_NAME = 'signing_key' THEN
        event_type := 'signing_key.rotated';
        changes := '"signingKey":{"from":' || coalesce((SELECT to_json(id)::text FROM signing_key WHERE number < NEW.number ORDER BY number DESC LIMIT 1), 'null')
            || ',"to":' || (became -> 'id')::text || '}';
    ELSIF TG_OP <> 'DELETE' THEN
        SELECT array_agg(c.column_name), string_agg(to_json(c.field)::text || ':{' || CASE c.kind
                WHEN 'object' THEN audited_members(nullif((to_json(OLD) -> c.column_name)::text, 'null')::json, nullif((to_json(NEW) -> c.column_name)::text, 'null')::json)
                ELSE '"from":' || audited_value(c.kind, was -> c.column_name) || ',"to":' || audited_value(c.kind, became -> c.column_name)
            END || '}', ',')
        INTO changed, changes
        FROM audited_column c
        WHERE c.table_name = TG_TABLE_NAME AND c.kind <> 'bookkeeping' AND CASE TG_OP
            WHEN 'INSERT' THEN became -> c.column_name <> c.initial
            ELSE was -> c.column_name IS DISTINCT FROM became -> c.column_name
        END;
        IF TG_OP = 'UPDATE' AND changed IS NULL THEN
            RETURN NULL;
        END IF;
    END IF;
    IF TG_TABLE_NAME = 'webhook' THEN
        changes := concat_ws(',', '"webhook":{"from":' || coalesce(was ->> 'id', 'null') || ',"to":' || coalesce(became ->> 'id', 'null') || '}', changes);
    END IF;
    event_type := coalesce(event_type, CASE
        WHEN TG_OP = 'INSERT' THEN TG_TABLE_NAME || '.created'
        WHEN TG_OP = 'DELETE' THEN TG_TABLE_NAME || CASE TG_TABLE_NAME WHEN 'api_token' THEN '.revoked' ELSE '.deleted' END
        WHEN 'token_hash' = ANY (changed) THEN 'user_group.token_rotated'
        WHEN 'secret_hash' = ANY (changed) THEN 'api_token.rotated'
        WHEN 'environment_tag' = ANY (changed) AND TG_TABLE_NAME = 'user_group' THEN 'user_group.environment_changed'
        WHEN changed && '{suspended,suspended_reason}' THEN CASE WHEN (became ->> 'suspended')::boolean THEN 'user_group.suspended' ELSE 'user_group.resumed' END
        WHEN 'embed_generation' = ANY (changed) THEN 'embed_token.revoked'
        WHEN 'revoked_at' = ANY (changed) THEN 'api_token.revoked'
        WHEN 'disabled_reason' = ANY (changed) AND became ->> 'disabled_reason' IS NOT NULL THEN 'webhook.disabled'
        ELSE TG_TABLE_NAME || '.updated'
    END);
    event_environment := CASE WHEN TG_TABLE_NAME IN ('webhook', 'signing_key') THEN 'None' ELSE coalesce(subject ->> 'environment_tag', 'Untagged') END;
    INSERT INTO event (type, environment, actor_kind, actor_name, actor_api_token_id, request_id, team_id, provided_id, subject_api_token_id, changes)
    VALUES (event_type, event_environment::event_environment, (actor ->> 'kind')::actor_kind, actor ->> 'name', (actor ->> 'apiTokenId')::int, actor ->> 'requestId',
        (subject ->> 'team_id')::int, subject ->> 'provided_id', CASE TG_TABLE_NAME WHEN 'api_token' THEN (subject ->> 'id')::int END,
        ('{' || nullif(changes, '') || '}')::json);
    RETURN NULL;
END
$$;

-- Key rotation, imports and the recording of look-ups set gateway.silent, for their transactions.
CREATE TRIGGER "set_version" BEFORE UPDATE ON "user_group" FOR EACH ROW WHEN (current_setting('gateway.silent', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION "set_version"();
CREATE TRIGGER "record_event" AFTER INSERT OR UPDATE OR DELETE ON "user_group" FOR EACH ROW WHEN (current_setting('gateway.silent', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION "record_event"();
CREATE TRIGGER "record_event" AFTER INSERT OR UPDATE ON "revoked_viewer" FOR EACH ROW WHEN (current_setting('gateway.silent', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION "record_event"();
CREATE TRIGGER "record_event" AFTER INSERT OR UPDATE OR DELETE ON "api_token" FOR EACH ROW WHEN (current_setting('gateway.silent', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION "record_event"();
CREATE TRIGGER "record_event" AFTER INSERT OR UPDATE OR DELETE ON "webhook" FOR EACH ROW WHEN (current_setting('gateway.silent', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION "record_event"();
CREATE TRIGGER "record_event" AFTER INSERT ON "signing_key" FOR EACH ROW WHEN (current_setting('gateway.silent', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION "record_event"();
