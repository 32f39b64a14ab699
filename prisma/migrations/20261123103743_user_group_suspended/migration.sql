-- CreateIndex
CREATE INDEX CONCURRENTLY "user_group_suspended_idx" ON "user_group"("environment_tag", "created_at", "team_id") WHERE (suspended);
