FROM node:22-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build && npm prune --omit=dev --ignore-scripts

FROM node:22-bookworm-slim
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
    CMD ["node", "-e", "fetch('http://127.0.0.1:8811/health').then((reply) => reply.json()).then(({ store }) => process.exit(store.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "dist/cli.js"]
CMD ["--http"]
