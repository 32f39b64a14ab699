-- CreateIndex
CREATE INDEX CONCURRENTLY "webhook_delivery_webhook_id_status_id_idx" ON "webhook_delivery"("webhook_id", "status", "id");
