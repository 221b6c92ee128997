# One image for the three services and the CLI. The command selects which of them runs (docker-compose.yml, k8s/).
# For a release, pin the base by digest: --build-arg NODE_IMAGE=node:24-slim@sha256:<digest>.
ARG NODE_IMAGE=node:24-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY .npmrc package.json package-lock.json ./
# No package needs its install script, so install scripts are disabled.
RUN npm ci --ignore-scripts --loglevel=error
COPY . .
RUN npm run build
# The compiler does not copy Lua, SQL and policy files. The services read them at the paths of the source folders.
RUN mkdir /assets && find apps libs migrations \( -name '*.lua' -o -name '*.sql' \) -exec cp --parents -t /assets {} + \
    && find policies -name '*.json' -exec cp --parents -t /assets {} +

FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY .npmrc package.json package-lock.json ./
# The optional packages (local PostgreSQL, Chromium, a Node for older hosts) are left out: 300 MB that the image does not need.
RUN npm ci --omit=dev --omit=optional --ignore-scripts --loglevel=error

FROM ${NODE_IMAGE}
WORKDIR /app
# By default a service listens on 127.0.0.1, which is not reachable from outside the container.
ENV BIND_HOST=0.0.0.0
# A container that is started without settings refuses to start. Without this it would run with mock callers and public secrets.
# A demo sets NODE_ENV=development itself (docker-compose.yml, k8s/overlays/kind).
ENV NODE_ENV=production
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=build /assets ./
COPY --from=build /app/dist ./dist
COPY package.json LICENSE ./
# The user is a number, because Kubernetes cannot check runAsNonRoot with a name. The files belong to root, so the process cannot
# change them.
USER 10001:10001
EXPOSE 3000 3001 3002
# No HEALTHCHECK here: compose and Kubernetes probe /health/ready and /health/live on the port of each service.
CMD ["node", "--enable-source-maps", "dist/apps/monolith/src/main.js"]
