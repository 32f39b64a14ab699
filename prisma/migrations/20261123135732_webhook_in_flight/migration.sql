-- CreateIndex
CREATE INDEX CONCURRENTLY "webhook_delivery_in_flight_idx" ON "webhook_delivery"("webhook_id") WHERE (in_flight);
