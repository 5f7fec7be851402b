# NODE_IMAGE=node@sha256:… takes the base by its digest.
ARG NODE_IMAGE=node:26-trixie-slim
FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build && npm prune --omit=dev --ignore-scripts

FROM ${NODE_IMAGE}
# A release adds the version, the commit and the date.
LABEL org.opencontainers.image.title="Gazeway" \
    org.opencontainers.image.description="Self-hosted agent gateway over MCP and HTTP" \
    org.opencontainers.image.licenses="MIT" \
    org.opencontainers.image.url="https://github.com/gazeway/gazeway" \
    org.opencontainers.image.source="https://github.com/gazeway/gazeway" \
    org.opencontainers.image.documentation="https://github.com/gazeway/gazeway/blob/main/docs/guides/operate.md"
ENV NODE_ENV=production \
    GAZEWAY_HOME=/data \
    GAZEWAY_HOST=0.0.0.0
WORKDIR /app
COPY --from=build /app/package.json /app/LICENSE /app/THIRD-PARTY-LICENSES ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
RUN install --directory --owner=node --group=node --mode=0700 /data
USER node
VOLUME /data
EXPOSE 8811 8812
HEALTHCHECK --interval=10s --timeout=5s --start-period=15s --retries=3 \
    CMD ["node", "-e", "fetch('http://127.0.0.1:8811/readyz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "dist/cli.js"]
CMD ["--http"]
