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

    CONSTRAINT "event_feed_pkey" PRIMARY KEY ("id")
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
    "response_encrypted" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "idempotency_record_pkey" PRIMARY KEY ("api_token_id","key_hash")
);

-- A crash may lose it.
-- CreateTable
CREATE UNLOGGED TABLE "request_count" (
    "api_token_id" INTEGER NOT NULL,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "count" INTEGER NOT NULL,

    CONSTRAINT "request_count_pkey" PRIMARY KEY ("api_token_id")
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
CREATE INDEX "idempotency_record_created_at_idx" ON "idempotency_record"("created_at");

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

-- Gives a changed group its next version and time. An update that changes nothing keeps both, and so do bookkeeping and revocation.
CREATE FUNCTION "set_version"() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    probe user_group;
BEGIN
    NEW.version := OLD.version;
    NEW.updated_at := OLD.updated_at;
    probe := NEW;
    probe.token_encrypted := OLD.token_encrypted;
    probe.last_resolved_at := OLD.last_resolved_at;
    probe.embed_generation := OLD.embed_generation;
    probe.properties := OLD.properties;
    probe.mapping := OLD.mapping;
    -- Compares bytes, which is fast; json has no equality.
    IF probe OPERATOR(pg_catalog.*<>) OLD OR NEW.properties::jsonb IS DISTINCT FROM OLD.properties::jsonb OR NEW.mapping::jsonb <> OLD.mapping::jsonb THEN
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
CREATE FUNCTION "audited_members"("column_name" text, "before" jsonb, "after" jsonb, "old_row" record, "new_row" record) RETURNS text LANGUAGE plpgsql STABLE AS $$
DECLARE
    from_members text;
    to_members text;
    from_omitted text;
    to_omitted text;
BEGIN
    SELECT string_agg(CASE WHEN octet_length(o) <= 4096 THEN name || o END, ','), string_agg(CASE WHEN octet_length(n) <= 4096 THEN name || n END, ','),
        string_agg(CASE WHEN octet_length(o) > 4096 THEN name || audited_digest(o) END, ','), string_agg(CASE WHEN octet_length(n) > 4096 THEN name || audited_digest(n) END, ',')
    INTO from_members, to_members, from_omitted, to_omitted
    FROM (
        -- The text that is stored, where that of jsonb is long: it has spaces, and other numbers.
        SELECT to_json(key)::text || ':' AS name,
            CASE WHEN octet_length(("before" -> key)::text) > 4096 THEN (to_json(old_row) -> column_name -> key)::text ELSE ("before" -> key)::text END AS o,
            CASE WHEN octet_length(("after" -> key)::text) > 4096 THEN (to_json(new_row) -> column_name -> key)::text ELSE ("after" -> key)::text END AS n
        FROM jsonb_object_keys(coalesce("before" || "after", "before", "after")) AS key
        WHERE "before" -> key IS DISTINCT FROM "after" -> key
    ) AS differing;
    RETURN '"from":' || CASE WHEN "before" IS NULL THEN 'null' ELSE '{' || coalesce(from_members, '') || '}' END
        || ',"to":' || CASE WHEN "after" IS NULL THEN 'null' ELSE '{' || coalesce(to_members, '') || '}' END
        || CASE WHEN from_omitted IS NULL AND to_omitted IS NULL THEN ''
            ELSE ',"omitted":{"from":{' || coalesce(from_omitted, '') || '},"to":{' || coalesce(to_omitted, '') || '}}' END;
END
$$;

-- Records an event of each change, however it was made. Whoever makes it sets gateway.actor, for its transaction. For each column
-- that is audited, its trigger has four arguments: the column, what an event has of it, the name that the API has for it, and
-- the initial value, which the event of a creation leaves out ('' is left out always).
-- field, enum, status, time, origin: its value; of a URL its origin alone
-- object: the members that differ
-- secret: only that it changed
-- revocation: nothing but the event
CREATE FUNCTION "record_event"() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp AS $$
DECLARE
    actor jsonb := coalesce(nullif(current_setting('gateway.actor', true), ''), '{"kind":"SYSTEM","name":"database"}');
    was jsonb := CASE WHEN TG_OP <> 'INSERT' THEN to_jsonb(OLD) END;
    became jsonb := CASE WHEN TG_OP <> 'DELETE' THEN to_jsonb(NEW) END;
    subject jsonb := coalesce(became, was);
    audited text;
    kind text;
    old_value jsonb;
    new_value jsonb;
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
        FOR i IN 0 .. TG_NARGS - 1 BY 4 LOOP
            audited := TG_ARGV[i];
            old_value := was -> audited;
            new_value := became -> audited;
            IF (CASE TG_OP WHEN 'INSERT' THEN TG_ARGV[i + 3] NOT IN ('', new_value::text) ELSE old_value IS DISTINCT FROM new_value END) THEN
                kind := TG_ARGV[i + 1];
                changed := changed || audited;
                changes := concat_ws(',', changes, '"' || nullif(TG_ARGV[i + 2], '') || '":{' || CASE kind
                    WHEN 'object' THEN audited_members(audited, nullif(old_value, 'null'), nullif(new_value, 'null'), OLD, NEW)
                    ELSE '"from":' || audited_value(kind, old_value) || ',"to":' || audited_value(kind, new_value)
                END || '}');
            END IF;
        END LOOP;
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
CREATE TRIGGER "record_event" AFTER INSERT OR UPDATE OR DELETE ON "user_group" FOR EACH ROW WHEN (current_setting('gateway.silent', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION "record_event"(
    'provided_id', 'field', 'providedId', '',
    'environment_tag', 'enum', 'environmentTag', '',
    'name', 'field', 'name', 'null',
    'token_hash', 'secret', 'token', '',
    'mapping', 'object', 'mapping', '{}',
    'properties', 'object', 'properties', 'null',
    'suspended', 'status', 'status', 'false',
    'suspended_reason', 'field', 'suspendedReason', 'null',
    'embed_generation', 'revocation', '', ''
);
CREATE TRIGGER "record_event" AFTER INSERT OR UPDATE ON "revoked_viewer" FOR EACH ROW WHEN (current_setting('gateway.silent', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION "record_event"();
CREATE TRIGGER "record_event" AFTER INSERT OR UPDATE OR DELETE ON "api_token" FOR EACH ROW WHEN (current_setting('gateway.silent', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION "record_event"(
    'name', 'field', 'name', 'null',
    'environment_tag', 'enum', 'environmentTag', 'null',
    'scopes', 'field', 'scopes', '[]',
    'expires_at', 'time', 'expiresAt', 'null',
    'rate_limit', 'field', 'rateLimit', 'null',
    'enabled', 'field', 'enabled', 'true',
    'revoked_at', 'time', 'revokedAt', 'null',
    'secret_hash', 'secret', 'secret', ''
);
CREATE TRIGGER "record_event" AFTER INSERT OR UPDATE OR DELETE ON "webhook" FOR EACH ROW WHEN (current_setting('gateway.silent', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION "record_event"(
    'url', 'origin', 'url', 'null',
    'types', 'field', 'types', '[]',
    'environments', 'enum', 'environments', '[]',
    'description', 'field', 'description', 'null',
    'enabled', 'field', 'enabled', 'null',
    'disabled_reason', 'field', 'disabledReason', 'null',
    'secret_encrypted', 'secret', 'secret', ''
);
CREATE TRIGGER "record_event" AFTER INSERT ON "signing_key" FOR EACH ROW WHEN (current_setting('gateway.silent', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION "record_event"();
