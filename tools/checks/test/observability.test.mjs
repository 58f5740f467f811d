/** Alerts, dashboard and runbooks: rules run in Prometheus' own tests, and name metrics and pages that exist. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { PROCESSES } from '../../processes/environment.mjs';
import { unpackDebianPackages } from '../../processes/debian-packages.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const folder = join(root, 'deploy/observability');
const PROGRAMS = join(root, 'node_modules/.cache/rookery/prometheus');
/** @param {string} name */
const read = (name) => readFileSync(join(folder, name), 'utf8');
const rules = parse(read('rules.yaml')).groups.flatMap((/** @type {any} */ group) => group.rules);
/** @type {any[]} */
const alerts = rules.filter((/** @type {any} */ rule) => rule.alert);
/** @type {any[]} */
const panels = JSON.parse(read('dashboard.json')).panels;
const panelExpressions = panels.flatMap(({ targets }) => targets.map((/** @type {any} */ { expr }) => expr));

/** @param {...string} words */
function promtool(...words) {
  unpackDebianPackages(['prometheus'], PROGRAMS);
  return execFileSync(join(PROGRAMS, 'usr/bin/promtool'), words, { cwd: folder, encoding: 'utf8', stdio: 'pipe' });
}

/**
 * Metrics of the pinned exporters: postgres_exporter 0.19.1 (its collectors and pg_settings) and prometheus-nats-exporter
 * 0.18.0 (jsz.go).
 */
const EXPORTED = [
  'pg_up',
  'pg_stat_database_numbackends',
  'pg_settings_max_connections',
  'jetstream_server_total_message_bytes',
  'jetstream_server_max_storage',
];

/** Names of metrics that the sources and the exporters declare. The gateway's tally adds its prefix to each name. */
function declaredMetrics() {
  const names = new Set(['up', 'nodejs_eventloop_lag_p99_seconds', ...EXPORTED]);
  for (const name of ['process_cpu_seconds_total', 'process_resident_memory_bytes']) names.add(name);
  for (const rule of rules) if (rule.record) names.add(rule.record);
  for (const kind of ['libs', 'apps'])
    for (const file of readdirSync(join(root, kind), { recursive: true, encoding: 'utf8' })) {
      if (!/\/src\/.*\.ts$/.test(file) || /node_modules|\.spec\.ts$/.test(file)) continue;
      const text = readFileSync(join(root, kind, file), 'utf8');
      for (const [, name = ''] of text.matchAll(/'(rookery_[a-z_]+)'/g)) names.add(name);
      if (!file.endsWith('metrics/tally.ts')) continue;
      for (const [, name = ''] of text.matchAll(/register(?:Total|Gauge)\(\s*metrics,\s*'([a-z_]+)'/g))
        names.add(`rookery_gateway_${name}`);
    }
  return names;
}

describe('alerts', () => {
  it('pass the tests of Prometheus, which let each one fire and none on a healthy estate', () => {
    assert.match(promtool('check', 'rules', 'rules.yaml'), /SUCCESS: \d+ rules found/);
    assert.match(promtool('test', 'rules', 'rules.test.yaml'), /SUCCESS/);
    const tested = parse(read('rules.test.yaml')).tests.map((/** @type {any} */ test) => test.name);
    assert.deepEqual(
      alerts.map(({ alert }) => `${alert} fires`).sort(),
      tested.filter((/** @type {string} */ name) => name.endsWith(' fires')).sort(),
    );
  });

  it('have a runbook each, which repeats the expression', () => {
    const index = readFileSync(join(root, 'docs/runbooks/README.md'), 'utf8');
    for (const { alert, expr, labels, annotations } of alerts) {
      const page = join(root, annotations.runbook);
      assert.ok(existsSync(page), `${alert}: no ${annotations.runbook}`);
      const text = readFileSync(page, 'utf8');
      assert.ok(text.includes(`Alert \`${alert}\`, severity ${labels.severity}.`), alert);
      assert.ok(text.includes(expr), `${annotations.runbook} has another expression`);
      assert.ok(index.includes(`| \`${alert}\` | ${labels.severity} |`), `the index lacks ${alert}`);
    }
    const pages = readdirSync(join(root, 'docs/runbooks')).filter((name) => name !== 'README.md');
    assert.equal(pages.length, alerts.length);
  });
});

it('rules and dashboard use only metrics that a process exports', () => {
  const declared = declaredMetrics();
  const expressions = [...rules.map((/** @type {any} */ { expr }) => expr), ...panelExpressions];
  const used = expressions.flatMap((expr) =>
    [
      ...expr
        .replaceAll(/\{[^}]*\}|"[^"]*"/g, '')
        .matchAll(/\b(?:rookery[a-z0-9_:]+|pg_\w+|jetstream_\w+|nodejs_\w+|process_\w+|up)\b/g),
    ].map(([name]) => name.replace(/_(?:bucket|count|sum)$/, '')),
  );
  assert.ok(used.length > 30);
  assert.deepEqual(
    [...new Set(used)].filter((name) => !declared.has(name)),
    [],
  );
});

it('the panels of the dashboard are valid expressions, with a number of their own', () => {
  assert.equal(new Set(panels.map(({ id }) => id)).size, panels.length);
  const document = {
    groups: [{ name: 'panels', rules: panelExpressions.map((expr, at) => ({ record: `p${at}`, expr })) }],
  };
  const drafts = mkdtempSync(join(tmpdir(), 'rookery-panels-'));
  try {
    writeFileSync(join(drafts, 'panels.yaml'), JSON.stringify(document));
    const found = promtool('check', 'rules', join(drafts, 'panels.yaml'));
    assert.match(found, new RegExp(`SUCCESS: ${panelExpressions.length} rules found`));
  } finally {
    rmSync(drafts, { recursive: true });
  }
});

it('Prometheus of Compose scrapes every process, and the exporters of both servers', () => {
  const [{ static_configs: targets, metrics_path: path }, ...exporters] = parse(read('prometheus.yaml')).scrape_configs;
  assert.equal(path, '/-/metrics');
  const scraped = targets.map((/** @type {any} */ one) => `${one.labels.process} ${one.targets}`);
  assert.deepEqual(scraped.sort(), PROCESSES.map((name) => `${name} ${name}:9090`).sort());
  /** @type {{ services: Record<string, any> }} */
  const { services } = parse(readFileSync(join(root, 'docker-compose.yml'), 'utf8'), { merge: true });
  const component = join(root, 'deploy/components/exporters');
  for (const {
    job_name: job,
    static_configs: [{ targets: addresses }],
  } of exporters) {
    const [host, port] = addresses[0].split(':');
    assert.equal(host, `${job}-exporter`);
    assert.deepEqual(services[host].profiles, ['observability']);
    const { spec } = parse(readFileSync(join(component, `${host}.yaml`), 'utf8'), { merge: true });
    const [{ image, ports, args, env }] = spec.template.spec.containers;
    assert.equal(image, services[host].image, `${host} has two releases`);
    assert.equal(ports[0].containerPort, Number(port));
    assert.deepEqual(args, services[host].command);
    const { DATA_SOURCE_URI: uri, DATA_SOURCE_USER: user } = services[host].environment ?? {};
    const named = (/** @type {string} */ name) => env?.find((/** @type {any} */ one) => one.name === name)?.value;
    assert.deepEqual([named('DATA_SOURCE_URI'), named('DATA_SOURCE_USER')], [uri, user]);
  }
  assert.deepEqual(
    exporters.map((/** @type {any} */ one) => one.job_name),
    ['postgres', 'nats'],
  );
});
