import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { parser } from '@prometheus-io/lezer-promql'
import yaml from 'js-yaml'
import { METRICS } from '../../adapters/metrics/descriptions.ts'
import { sharedPostgres } from '../contract/shared-postgres.ts'
import { codeIn } from '../docs/markdown.ts'
import { until } from '../doubles/until.ts'
import * as double from '../doubles/upstream.ts'
import { type RunningPlatform, startPlatform } from './platform.ts'
import { type Sample, scraped } from './scrape.ts'

const HOUR_MS = 3_600_000
/** Labels that Prometheus adds to each series of a target. */
const OF_TARGET = ['instance', 'job']

describe('a scrape of a gateway in use', () => {
  const doubles: double.UpstreamDouble[] = []
  let running: RunningPlatform
  let samples: Sample[]

  before(async () => {
    const server = await sharedPostgres()
    for (let i = 0; i < 3; i++) doubles.push(await double.startUpstream())
    const [fast, slow, broken] = doubles as [double.UpstreamDouble, double.UpstreamDouble, double.UpstreamDouble]
    const url = (of: double.UpstreamDouble) => ({ provider: of.url, timeout_ms: 5_000 })
    running = await startPlatform(fast.url, {
      env: { GAZEWAY_STORE: await server.databaseWithTables() },
      document: {
        pricing: { models: { 'slow-1': { input: 1, output: 2 } } },
        upstreams: {
          slow: { ...url(slow), api_keys: ['key-of-slow-upstream'], models: ['slow-*'] },
          broken: { ...url(broken), api_keys: ['key-of-broken-upstream'], models: ['broken-*'] },
        },
        routes: [
          { model: 'routed', to: ['broken/broken-1', 'default/llm-3-fast'] },
          { model: 'hedged', to: ['slow/slow-1', 'default/llm-3-fast'], hedge_after_ms: 20 },
        ],
      },
    })
    await use(running, { fast, slow, broken })
    samples = await until(async () => {
      const found = await scraped(running.url, { authorization: `Bearer ${running.admin}` })
      const ended = found.filter(({ name }) => name === 'gazeway_key_calls_total')
      return ended.some(({ labels }) => labels.outcome === 'hedged') ? found : null
    })
  })
  after(async () => {
    await running.close()
    for (const one of doubles) await one.close()
  })

  const of = (name: string, labels: Record<string, string> = {}) =>
    samples.filter(
      (one) => one.name === name && Object.entries(labels).every(([label, value]) => one.labels[label] === value),
    )
  const value = (name: string, labels: Record<string, string> = {}) => {
    const found = of(name, labels)
    assert.equal(found.length, 1, `${name} ${JSON.stringify(labels)}: ${JSON.stringify(found)}`)
    return found[0]?.value ?? Number.NaN
  }
  const sum = (name: string, labels: Record<string, string>) =>
    of(name, labels).reduce((all, one) => all + one.value, 0)

  it('tells which provider is slow, and for whom', () => {
    const pairs = of('gazeway_key_call_seconds_total').map(
      ({ labels: { key = '', upstream = '' }, value: seconds }) => ({
        who: `${key} at ${upstream}`,
        mean: seconds / sum('gazeway_key_calls_total', { key, upstream }),
      }),
    )
    const [slowest] = pairs.sort((a, b) => b.mean - a.mean)
    assert.equal(slowest?.who, 'ann at slow')
    assert.ok(slowest.mean > 0.2, `${slowest.mean} s`)
    const mean = (upstream: string) =>
      sum('gazeway_call_duration_seconds_sum', { upstream, outcome: 'ok' }) /
      sum('gazeway_call_duration_seconds_count', { upstream, outcome: 'ok' })
    assert.ok(mean('slow') > mean('default'))
  })

  it('tells who runs out of money, when, and who owes', () => {
    const lasting = of('gazeway_money_lasts_seconds').sort((a, b) => a.value - b.value)
    const [first] = lasting
    assert.deepEqual(first?.labels, { key: 'bob', kind: 'key' })
    assert.ok(first.value > 0 && first.value < 86_400, `${first.value} s`)
    assert.equal(value('gazeway_money_limit_usd', { key: 'bob', of: 'budget_total' }), 0.1)
    assert.ok(value('gazeway_money_left_usd', { key: 'bob', of: 'budget_total' }) < 0.03)
    assert.equal(value('gazeway_money_limit_usd', { key: 'bob', of: 'balance' }), 5)
    assert.equal(value('gazeway_debt_usd', { key: 'bob', kind: 'key' }), 0)
  })

  it('tells whether a breaker is open, and what was passed over for it', () => {
    assert.equal(sum('gazeway_circuits_open', { upstream: 'broken' }), 1)
    assert.equal(sum('gazeway_circuits_open', { upstream: 'default' }), 0)
    assert.ok(value('gazeway_skipped_candidates_total', { upstream: 'broken', reason: 'circuit_open' }) >= 1)
    assert.ok(value('gazeway_upstream_errors_total', { upstream: 'broken', http_status: '503' }) >= 10)
  })

  it('tells how old the oldest unsent webhook is, and what else waits', () => {
    const age = value('gazeway_queue_oldest_seconds', { queue: 'webhooks' })
    assert.ok(age >= 3600 && age < 3700, `${age} s`)
    assert.equal(value('gazeway_queue_length', { queue: 'webhooks' }), 1)
    assert.equal(value('gazeway_webhooks_given_up'), 1)
    assert.equal(value('gazeway_queue_length', { queue: 'outbox' }), 0)
    assert.ok(value('gazeway_queue_oldest_seconds', { queue: 'call_records' }) < 5)
    const overdue = value('gazeway_sweep_overdue_seconds', { sweep: 'of-the-test' })
    assert.ok(overdue >= 7200 && overdue < 7300, `${overdue} s`)
  })

  it('tells how full the pool of the store is', () => {
    assert.equal(value('gazeway_store_up'), 1)
    const used = value('gazeway_store_connections', { state: 'used' })
    assert.equal(value('gazeway_store_connections_max'), 16)
    assert.ok(used + value('gazeway_store_connections', { state: 'idle' }) <= 16)
    assert.equal(value('gazeway_store_connections', { state: 'waiting' }), 0)
  })

  it('tells the cache-hit rate of a model at an upstream', () => {
    const at = { upstream: 'slow', model: 'slow-1' }
    const rate =
      value('gazeway_tokens_total', { ...at, kind: 'cached' }) /
      value('gazeway_tokens_total', { ...at, kind: 'prompt' })
    assert.equal(rate, 0.8)
  })

  it('tells how fast answers begin and go on, and who won where a call was hedged', () => {
    const at = { upstream: 'slow', model: 'slow-1', operation: 'chat' }
    assert.ok(value('gazeway_first_token_seconds_count', at) >= 1)
    const speed =
      value('gazeway_output_tokens_per_second_sum', at) / value('gazeway_output_tokens_per_second_count', at)
    assert.ok(speed > 1 && speed < 500, `${speed} tokens a second`)
    assert.equal(value('gazeway_hedges_total', { upstream: 'slow', winner: 'hedge' }), 1)
  })

  it('has every described metric with its labels, and no other', () => {
    const found = new Map<string, Set<string>>()
    for (const { name, labels } of samples.filter(({ name }) => name.startsWith('gazeway_'))) {
      const metric = name in METRICS ? name : name.replace(/_(bucket|sum|count)$/, '')
      const known = found.get(metric) ?? new Set()
      for (const label of Object.keys(labels)) if (label !== 'le') known.add(label)
      found.set(metric, known)
    }
    assert.deepEqual([...found.keys()].sort(), Object.keys(METRICS).sort())
    for (const [name, { labels }] of Object.entries(METRICS))
      assert.deepEqual([...(found.get(name) ?? [])].sort(), [...labels].sort(), name)
  })

  const dashboard = JSON.parse(readFileSync('deploy/grafana-dashboard.json', 'utf8'))
  const { groups } = yaml.load(readFileSync('deploy/prometheus-alerts.yaml', 'utf8')) as {
    groups: { rules: { alert: string; expr: string; annotations: { summary: string } }[] }[]
  }
  const rules = groups.flatMap((group) => group.rules)
  const panels: { title: string; targets: { expr: string; legendFormat: string }[] }[] = dashboard.panels.filter(
    ({ type }: { type: string }) => type !== 'row',
  )
  const queries = codeIn(readFileSync('docs/reference/metrics.md', 'utf8')).filter(
    (code) => code.includes('gazeway_') && !/^\w+$/.test(code),
  )

  it('has every metric and label that the dashboard, the alerts and the reference ask for', () => {
    assert.ok(rules.length >= 12 && panels.length >= 20 && queries.length >= 8)
    for (const { alert, expr, annotations } of rules)
      checkQuery(`alert ${alert}`, expr, labelsIn(annotations.summary, /\$labels\.(\w+)/g))
    for (const { title, targets } of panels)
      for (const { expr, legendFormat } of targets)
        checkQuery(`panel ${title}`, expr, labelsIn(legendFormat, /\{\{(\w+)\}\}/g))
    for (const query of queries) checkQuery('the reference', query, [])
    assert.throws(() => checkQuery('a typo', 'rate(gazeway_cals_total[5m])', []), /gazeway_cals_total/)
    assert.throws(() => checkQuery('a label', 'sum by (modle) (gazeway_tokens_total)', []), /modle/)
    assert.throws(() => checkQuery('no PromQL', 'sum by (model gazeway_tokens_total', []), /no PromQL/)
  })

  /** Checks a query's syntax, its metrics and labels, and the labels that a text beside it shows. */
  function checkQuery(where: string, expression: string, shown: readonly string[]): void {
    const { metrics, labels, selectors, faults } = readQuery(expression.replaceAll('$__rate_interval', '5m'))
    assert.equal(faults, 0, `${where}: ${expression} is no PromQL`)
    assert.ok(metrics.length > 0, where)
    const labelsOf = (metric: string) => {
      if (metric === 'up') return OF_TARGET
      const series = of(metric)
      assert.ok(series.length > 0, `${where}: nothing is called ${metric}`)
      return [...OF_TARGET, ...new Set(series.flatMap((one) => Object.keys(one.labels)))]
    }
    const known = metrics.flatMap(labelsOf)
    for (const label of [...labels, ...shown]) assert.ok(known.includes(label), `${where}: no label ${label}`)
    for (const { metric, matched } of selectors)
      for (const label of matched) assert.ok(labelsOf(metric).includes(label), `${where}: ${metric} has no ${label}`)
  }
})

const labelsIn = (text: string, pattern: RegExp): string[] =>
  [...text.matchAll(pattern)].map(([, label]) => label ?? '')

/** Metrics and labels of a query, by the grammar of Prometheus. */
function readQuery(expression: string) {
  const text = (node: { from: number; to: number }) => expression.slice(node.from, node.to)
  const selectors: { metric: string; matched: string[] }[] = []
  const labels: string[] = []
  let faults = 0
  parser.parse(expression).iterate({
    enter(node) {
      if (node.type.isError) faults++
      if (node.name === 'VectorSelector') {
        const name = node.node.getChild('Identifier')
        selectors.push({ metric: name === null ? '' : text(name), matched: [] })
      }
      if (node.name === 'LabelName') {
        if (node.matchContext(['GroupingLabels'])) labels.push(text(node))
        else selectors.at(-1)?.matched.push(text(node))
      }
    },
  })
  return { metrics: selectors.map(({ metric }) => metric), labels, selectors, faults }
}

/** Uses a gateway so that each metric has a value. */
async function use(
  { gateway, gatewayUrl }: RunningPlatform,
  { fast, slow, broken }: Record<'fast' | 'slow' | 'broken', double.UpstreamDouble>,
): Promise<void> {
  const usage = {
    prompt_tokens: 100,
    completion_tokens: 20,
    total_tokens: 120,
    prompt_tokens_details: { cached_tokens: 80 },
  }
  fast.on('/chat/completions', double.json(200, double.completion('Hello.')))
  broken.on('/chat/completions', double.fails(503))
  slow.on('/chat/completions', async (response, request) => {
    await delay(300)
    if (!(request.body as { stream?: boolean }).stream)
      return double.json(200, double.completion('Hello.', usage))(response, request)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const chunk of double.chunks(['Hel', 'lo.'], usage)) {
      response.write(`data: ${JSON.stringify(chunk)}\n\n`)
      await delay(50)
    }
    response.end('data: [DONE]\n\n')
  })
  const newKey = async (name: string, more: object = {}) =>
    (await gateway.keys.create({ name, scopes: ['inference'], ...more })).key
  const ann = await newKey('ann')
  const bob = await newKey('bob', {
    limits: { budgets: [{ usd: 0.1, per: 'total' }], credit_limit_usd: 5 },
    billing: 'metered',
  })
  const post = async (key: string, model: string, stream = false) => {
    const reply = await fetch(`${gatewayUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, stream, max_tokens: 10, messages: [{ role: 'user', content: 'Hello.' }] }),
    })
    await reply.text()
    return reply.status
  }
  assert.equal(await post(ann, 'slow-1'), 200)
  assert.equal(await post(ann, 'slow-1', true), 200)
  for (let i = 0; i < 12; i++) await post(ann, 'broken-1')
  assert.equal(await post(ann, 'routed'), 200)
  assert.equal(await post(ann, 'hedged'), 200)
  assert.equal(await post(bob, 'llm-3-fast'), 200)
  await until(async () => (await post(bob, 'llm-3-fast')) !== 200)
  const now = Date.now()
  const at = (ms: number) => new Date(now - ms).toISOString()
  const message = {
    owner: 'key_x',
    per: 'day' as const,
    body: '{}',
    attempts: 1,
    delivered_at: null,
    error: 'It answered 500.',
  }
  const { db } = gateway.store
  await db
    .insertInto('alert_messages')
    .values([
      { ...message, id: 'alert_1', period: '2026-01-01', percent: 1, created_at: at(HOUR_MS), next_at: at(0) },
      { ...message, id: 'alert_2', period: '2026-01-01', percent: 2, created_at: at(24 * HOUR_MS), next_at: null },
    ])
    .execute()
  await db
    .insertInto('sweeps')
    .values({ name: 'of-the-test', next_at: at(2 * HOUR_MS) })
    .execute()
}
