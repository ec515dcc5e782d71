# The gateway in one image: compiled in the first stage, only what runs in the second.
FROM node:24-bookworm-slim AS build
WORKDIR /gateway
COPY package.json package-lock.json ./
COPY config/*.mjs config/
RUN npm ci
COPY . .
RUN npm run build && npm prune --omit=dev

FROM node:24-bookworm-slim
WORKDIR /gateway
# These win over the file of GATEWAY_CONFIG: docs/production.md says so.
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000 DATA_DIR=/data
COPY --from=build /gateway/package.json /gateway/LICENSE /gateway/THIRD_PARTY_NOTICES.md ./
COPY --from=build /gateway/node_modules ./node_modules
COPY --from=build /gateway/dist ./dist
# A volume takes its owner from the folder that it is mounted on.
RUN mkdir /data /media && chown node:node /data /media
# Packages of an image upon this one import the gateway by its name: docs/production.md.
RUN ln -s .. node_modules/messaging-gateway
USER node
VOLUME /data
EXPOSE 3000
# Variables alone: loading the whole configuration costs four times the processor time, every ten seconds.
HEALTHCHECK --interval=10s --timeout=3s --start-period=120s CMD ["node", "-e", "fetch('http://127.0.0.1:'+(process.env.METRICS_PORT||process.env.PORT)+'/servingz').then(r=>process.exit(r.ok?0:1),()=>process.exit(1))"]
# Not through npm: signals must reach the gateway itself.
CMD ["node", "dist/main.js", "serve"]
