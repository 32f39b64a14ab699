-- AlterTable
ALTER TABLE "user_group" ADD COLUMN     "embed_generation" INTEGER NOT NULL DEFAULT 0;

-- CreateTable
CREATE TABLE "revoked_viewer" (
    "team_id" INTEGER NOT NULL,
    "viewer_id" VARCHAR(255) NOT NULL,
    "generation" INTEGER NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "revoked_viewer_pkey" PRIMARY KEY ("team_id","viewer_id")
);

-- CreateIndex
CREATE INDEX "revoked_viewer_expires_at_idx" ON "revoked_viewer"("expires_at");

-- AddForeignKey
ALTER TABLE "revoked_viewer" ADD CONSTRAINT "revoked_viewer_team_id_fkey" FOREIGN KEY ("team_id") REFERENCES "user_group"("team_id") ON DELETE CASCADE ON UPDATE CASCADE;
