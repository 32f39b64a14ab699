-- CreateIndex
CREATE INDEX CONCURRENTLY "event_environment_position_idx" ON "event"("environment", "position") WHERE (position IS NOT NULL);
