-- Lists of user groups are sorted by code points, which is the same on every server, compares fastest, and is what the gateway
-- merges by. No row is rewritten; the indexes on provided_id are built anew.
ALTER TABLE "user_group"
    ALTER COLUMN "provided_id" TYPE VARCHAR(255) COLLATE "C",
    ALTER COLUMN "name" TYPE VARCHAR(255) COLLATE "C";

-- One index for each order, in both directions. The environment comes first, because a caller sees one of them. A provided id is
-- unique in its environment, so that no number follows.
-- CreateIndex
CREATE INDEX "user_group_environment_tag_created_at_team_id_idx" ON "user_group"("environment_tag", "created_at", "team_id");

-- CreateIndex
CREATE INDEX "user_group_environment_tag_updated_at_team_id_idx" ON "user_group"("environment_tag", "updated_at", "team_id");

-- CreateIndex
CREATE INDEX "user_group_environment_tag_name_team_id_idx" ON "user_group"("environment_tag", "name", "team_id");

-- CreateIndex
CREATE INDEX "user_group_environment_tag_provided_id_idx" ON "user_group"("environment_tag", "provided_id");

-- The search for a part of the name or the id. In the collation of the database, because in "C" only ASCII letters have an upper
-- and a lower case. The extension may have been created before, in any schema.
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
