# The gateway without the bundled PostgreSQL: it needs DATABASE_URL and ENCRYPTION_KEYS (or ENCRYPTION_KEYS_FILE).
ARG NODE_IMAGE=node:24-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /src
COPY . .
# Installs exactly what the lock file says, without install scripts, and builds dist and dist-web.
RUN node scripts/setup.js

FROM ${NODE_IMAGE}
WORKDIR /app
# Everything that runs is bundled.
COPY --from=build /src/package.json /src/LICENSE ./
COPY --from=build /src/dist dist
COPY --from=build /src/dist-web dist-web
COPY --from=build /src/prisma/migrations prisma/migrations
ENV NODE_ENV=production HOST=0.0.0.0 PORT=4000 LOG_FORMAT=json
USER 1000:1000
EXPOSE 4000
STOPSIGNAL SIGTERM
# /livez does not ask the database: restarting the gateway does not repair a database.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/livez`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "dist/main.js"]
CMD ["serve"]
