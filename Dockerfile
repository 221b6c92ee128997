# One image for the three services and the CLI; the command says which of them runs (docker-compose.yml, k8s/).
# For a release, pin the base by digest: --build-arg NODE_IMAGE=node:24-slim@sha256:<digest>.
ARG NODE_IMAGE=node:24-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY .npmrc package.json package-lock.json ./
# No package here needs its install script, and none is allowed to run.
RUN npm ci --ignore-scripts --loglevel=error
COPY . .
RUN npm run build
# Lua and SQL are no build output: the services read them from where the sources have them.
RUN mkdir /assets && find apps libs migrations \( -name '*.lua' -o -name '*.sql' \) -exec cp --parents -t /assets {} +

FROM ${NODE_IMAGE} AS dependencies
WORKDIR /app
COPY .npmrc package.json package-lock.json ./
# The optional packages are the local PostgreSQL, Chromium and a Node for older hosts: 300 MB that nobody needs in here.
RUN npm ci --omit=dev --omit=optional --ignore-scripts --loglevel=error

FROM ${NODE_IMAGE}
WORKDIR /app
# Without it a service listens on 127.0.0.1, which nobody outside the container can reach. NODE_ENV is the deployer's to set.
ENV BIND_HOST=0.0.0.0
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=build /assets ./
COPY --from=build /app/dist ./dist
COPY package.json LICENSE ./
# A number, because Kubernetes cannot check runAsNonRoot against a name. Root owns the files: the process cannot change them.
USER 10001:10001
EXPOSE 3000 3001 3002
# No HEALTHCHECK: compose and Kubernetes probe /health/ready and /health/live, each service on its own port.
CMD ["node", "--enable-source-maps", "dist/apps/monolith/src/main.js"]
