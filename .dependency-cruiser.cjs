/**
 * Who may import whom. A message says which room was entered from where, and what to do instead.
 * Tests may import everything, and so may config/compose.ts, which puts the parts together.
 */
const local = { dependencyTypes: ['local', 'localmodule', 'aliased'] };
const library = (...names) => `(^|/)node_modules/(${names.join('|')})/`;

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'core-stays-in-core',
      comment:
        'core/ may import libraries and core/ only: it knows no plugin, driver or configuration. ' +
        'Declare what it needs as a type in core/contracts and let a plugin provide it.',
      severity: 'error',
      from: { path: '^core/' },
      to: { ...local, pathNot: '^core/' },
    },
    {
      name: 'driver-knows-contracts-only',
      comment:
        'drivers/x may import libraries, core/contracts, core/errors.ts, core/waiting.ts and its own folder only: ' +
        'no plugin, no other driver, no configuration. Its options and its port are handed in.',
      severity: 'error',
      from: { path: '^drivers/([^/]+)' },
      to: {
        ...local,
        pathNot: ['^core/contracts/', '^core/(errors|waiting)\\.ts$', '^drivers/$1(/|$)'],
      },
    },
    {
      name: 'driver-without-server',
      comment:
        'drivers/ may not import the web server or the container: a driver is handed its account and ' +
        'its port, and answers with data.',
      severity: 'error',
      from: { path: '^drivers/' },
      to: { path: library('fastify', 'fastify-plugin', '@fastify', 'awilix') },
    },
    {
      name: 'plugin-without-driver',
      comment:
        'plugins/ may never import drivers/: ask for the driver by its channel, typed by ' +
        'core/contracts/driver.ts; config/compose.ts names the drivers there are.',
      severity: 'error',
      from: { path: '^plugins/' },
      to: { path: '^drivers/' },
    },
    {
      name: 'plugin-without-configuration',
      comment:
        'plugins/ may not import config/, test/ or a file of the top folder: settings are handed ' +
        'in through the container.',
      severity: 'error',
      from: { path: '^plugins/', pathNot: '^plugins/console/web/' },
      to: { ...local, pathNot: '^(core|plugins|drivers)/' },
    },
    {
      name: 'plugin-meets-contract-only',
      comment:
        'plugins/x may import nothing of another plugin but the types of its contract.ts: take the ' +
        'service from the container, its table objects from the storage, or listen to an event.',
      severity: 'error',
      from: { path: '^plugins/([^/]+)' },
      to: { path: '^plugins/', pathNot: ['^plugins/$1(/|$)', '^plugins/[^/]+/contract\\.ts$'] },
    },
    {
      name: 'plugin-contract-is-types',
      comment:
        "plugins/x may use another plugin's contract.ts by `import type` only: a value from there " +
        'would load that plugin with it.',
      severity: 'error',
      from: { path: '^plugins/([^/]+)' },
      to: {
        path: '^plugins/[^/]+/contract\\.ts$',
        pathNot: '^plugins/$1/',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'storage-knows-no-noun',
      comment:
        'plugins/storage may import no other plugin, not even types: it is under all of them. What it ' +
        'needs of a noun is handed in by config/tables.ts, typed by core/contracts.',
      severity: 'error',
      from: { path: '^plugins/storage/' },
      to: { path: '^plugins/', pathNot: '^plugins/storage/' },
    },
    {
      name: 'sql-with-its-noun',
      comment:
        'Only plugins/x/tables and plugins/storage may import knex, libsql, mysql2 or core/contracts/{sql,schema}.ts: ' +
        "a noun's SQL is in its tables/. Add a method to its table object and call it on a unit or on storage.read.",
      severity: 'error',
      // The simulated network is a program of its own with a database of its own.
      from: {
        pathNot:
          '^(plugins/([^/]+/tables|storage)/|core/contracts/|public/plugin\\.ts$|drivers/simulated/network/|test/|config/tables\\.ts$)',
      },
      to: {
        path: [
          library('knex', 'libsql', '@libsql', 'mysql2'),
          '^core/contracts/(sql|schema)\\.ts$',
        ],
      },
    },
    {
      name: 'tables-are-handed-their-database',
      comment:
        'plugins/x/tables and core/contracts may import knex by `import type` only, and no driver of a database: ' +
        'a table object runs its SQL on the `Sql` that it is handed.',
      severity: 'error',
      from: { path: '^(plugins/[^/]+/tables/|core/contracts/)' },
      to: {
        path: library('knex', 'libsql', '@libsql', 'mysql2'),
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'tables-meet-in-config',
      comment:
        'In config/ only tables.ts may import plugins/x/tables: it puts them together. Hand on its `contents`, or ' +
        'take the table objects from the storage.',
      severity: 'error',
      from: { path: '^config/', pathNot: '^config/tables\\.ts$' },
      to: { path: '^plugins/[^/]+/tables/' },
    },
    {
      name: 'config-stays-with-core',
      comment:
        'In config/ only compose*.ts and tables.ts may import plugins, and drivers.ts drivers: schema, defaults and ' +
        'loading of settings need core/ and libraries.',
      severity: 'error',
      from: {
        path: '^config/',
        pathNot:
          '^config/(compose(-administration|-backup|-doctor)?|drivers|tables|commands/listen)\\.ts$',
      },
      to: { ...local, pathNot: '^(client|core|config)/' },
    },
    {
      name: 'public-hands-on',
      comment:
        'public/ is what packages from outside may import, and only hands on: client/, core/ for drivers and plugins, ' +
        'testing/ for their tests, and types of the simulated network. Nothing of the gateway ' +
        'imports it.',
      severity: 'error',
      from: { path: '^public/' },
      to: {
        ...local,
        pathNot: ['^client/', '^core/', '^testing/', '^drivers/simulated/control\\.ts$'],
      },
    },
    {
      name: 'client-imports-nothing',
      comment:
        'client/ may import nothing outside of client/: no library, no file of the gateway. It runs in ' +
        'browsers, and knows the gateway by the types that are generated from the OpenAPI document.',
      severity: 'error',
      from: { path: '^client/' },
      to: { pathNot: '^client/' },
    },
    {
      name: 'browser-code-alone',
      comment:
        'plugins/console/web runs in browsers: it may import preact, the typed client and itself, nothing of the gateway ' +
        'or of Node.js. What it needs to know it asks over REST.',
      severity: 'error',
      from: { path: '^plugins/console/web/' },
      to: { pathNot: ['^plugins/console/web/', '^client/', library('preact')] },
    },
    {
      name: 'browser-code-stays-there',
      comment:
        'Nothing outside plugins/console/web may import it: it is compiled for browsers, and served as files.',
      severity: 'error',
      from: { pathNot: '^(plugins/console/web|test)/' },
      to: { path: '^plugins/console/web/' },
    },
    {
      name: 'testing-ships-with-the-package',
      comment:
        'testing/ is part of the package, so it may not import test/, and of config/ only what makes a driver.',
      severity: 'error',
      from: { path: '^testing/' },
      to: {
        ...local,
        pathNot: [
          '^(core|testing)/',
          '^drivers/simulated/',
          '^config/(checked-driver|isolated/driver)\\.ts$',
        ],
      },
    },
    {
      name: 'testing-runs-without-tap',
      comment:
        'testing/ may import tap by `import type` only: the harness and the simulated network must run where it is ' +
        'not installed.',
      severity: 'error',
      from: { path: '^testing/' },
      to: { path: library('tap'), dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'main-starts-from-config',
      comment:
        'main.ts may import config/, core/ and libraries only: config/compose.ts adds the rest.',
      severity: 'error',
      from: { path: '^main\\.ts$' },
      to: { ...local, pathNot: '^(core|config)/' },
    },
    {
      name: 'no-circle',
      comment:
        'These files load each other in a circle, so that one of them runs before what it needs. ' +
        'Move what both need to a file of its own; a circle of `import type` is none.',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|data|\\.tap|\\.git)(/|$)' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types'],
    },
  },
};
