-- CreateIndex
CREATE INDEX CONCURRENTLY "event_unpositioned_idx" ON "event"("id") WHERE (position IS NULL);
