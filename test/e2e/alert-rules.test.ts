import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { after, describe, it } from 'node:test'
import yaml from 'js-yaml'

const RULES = resolve('deploy/prometheus-alerts.yaml')
const folder = mkdtempSync(join(tmpdir(), 'gazeway-alerts-'))
after(() => rmSync(folder, { recursive: true }))
const skip = spawnSync('promtool', ['--version']).status !== 0 && "there is no promtool (Debian's package prometheus)"

/** A minute of a series, in promtool's notation, and what a rule says of it. */
interface Case {
  alert: string
  series: Record<string, string>
  /** Minutes after the first sample at which it fires, and has not fired before. */
  minutes: number
  labels: Record<string, string>
  summary: string
  /** The same series where all is well. */
  well: Record<string, string>
}

const UPSTREAM = { upstream: 'u' }
const HERE = { instance: 'a' }
const calls = (outcome: string) => `gazeway_upstream_calls_total{upstream="u",outcome="${outcome}"}`
const first = (le: string) => `gazeway_first_token_seconds_bucket{upstream="u",le="${le}"}`
const money = (name: string) => `gazeway_${name}{key="ann",kind="key"}`
const KEY = { key: 'ann', kind: 'key' }

const CASES: Case[] = [
  {
    alert: 'GazewayDown',
    series: { 'up{job="gazeway",instance="a"}': '0x60' },
    minutes: 1,
    labels: { job: 'gazeway', ...HERE, severity: 'critical' },
    summary: 'Gazeway on a does not answer.',
    well: { 'up{job="gazeway",instance="a"}': '1x60' },
  },
  {
    alert: 'GazewayStoreDown',
    series: { 'gazeway_store_up{instance="a"}': '0x60' },
    minutes: 1,
    labels: { ...HERE, severity: 'critical' },
    summary: 'The store does not answer a. Calls go on, and their records wait in memory.',
    well: { 'gazeway_store_up{instance="a"}': '1x60' },
  },
  {
    alert: 'GazewayCircuitOpen',
    series: { 'gazeway_circuits_open{upstream="u",model="all",scope="everyone"}': '1x60' },
    minutes: 1,
    labels: { ...UPSTREAM, model: 'all', severity: 'critical' },
    summary: 'The circuit breaker of u is open for all.',
    well: {
      'gazeway_circuits_open{upstream="u",model="all",scope="everyone"}': '0x60',
      // Requests of one key that fail say little about the upstream.
      'gazeway_circuits_open{upstream="u",model="m",scope="one_key"}': '1x60',
    },
  },
  {
    alert: 'GazewayUpstreamFails',
    series: { [calls('error')]: '0+1x60', [calls('ok')]: '0+9x60' },
    minutes: 6,
    labels: { ...UPSTREAM, severity: 'warning' },
    summary: '10% of the calls to u fail.',
    well: { [calls('error')]: '0+1x60', [calls('ok')]: '0+99x60' },
  },
  {
    alert: 'GazewayUpstreamSlow',
    series: { [first('20.48')]: '0+0x60', [first('40.96')]: '0+10x60', [first('+Inf')]: '0+10x60' },
    minutes: 11,
    labels: { ...UPSTREAM, severity: 'warning' },
    summary: 'Answers of u begin after 39.94s (p95).',
    well: { [first('20.48')]: '0+10x60', [first('40.96')]: '0+10x60', [first('+Inf')]: '0+10x60' },
  },
  {
    alert: 'GazewayCallsRefused',
    series: { 'gazeway_refused_calls_total{http_status="402"}': '0+5x60' },
    minutes: 11,
    labels: { http_status: '402', severity: 'warning' },
    summary: '55 calls were refused with 402: budgets, credit or limits are reached.',
    well: { 'gazeway_refused_calls_total{http_status="402"}': '0+3x60' },
  },
  {
    alert: 'GazewayKeysResting',
    series: { 'gazeway_keys_resting{upstream="u"}': '2x60', 'gazeway_upstream_keys{upstream="u"}': '2x60' },
    minutes: 5,
    labels: { ...UPSTREAM, severity: 'warning' },
    summary: 'All keys of u cool down: its limits are reached, or it refuses the keys.',
    well: { 'gazeway_keys_resting{upstream="u"}': '1x60', 'gazeway_upstream_keys{upstream="u"}': '2x60' },
  },
  {
    alert: 'GazewayMoneyEnds',
    series: { [money('money_lasts_seconds')]: '3600x60' },
    minutes: 10,
    labels: { ...KEY, severity: 'warning' },
    summary: 'The money of the key ann lasts for 1h 0m 0s.',
    well: { [money('money_lasts_seconds')]: '90000x60' },
  },
  {
    alert: 'GazewayDebt',
    series: { [money('debt_usd')]: '2x60' },
    minutes: 0,
    labels: { ...KEY, severity: 'warning' },
    summary: 'The key ann owes 2.00 USD.',
    well: { [money('debt_usd')]: '0.5x60' },
  },
  {
    alert: 'GazewayCostAbsorbed',
    series: { 'gazeway_charge_absorbed_usd_total{instance="a"}': '0+0.25x60' },
    minutes: 5,
    labels: { ...HERE, severity: 'warning' },
    summary: 'Charged calls cost 1.25 USD in an hour that were not reserved.',
    well: { 'gazeway_charge_absorbed_usd_total{instance="a"}': '0+0.01x60' },
  },
  {
    alert: 'GazewayQueueOld',
    series: { 'gazeway_queue_oldest_seconds{queue="call_records"}': '90x60' },
    minutes: 5,
    labels: { queue: 'call_records', severity: 'warning' },
    summary: 'The oldest entry of call_records waits for 1m 30s.',
    well: {
      'gazeway_queue_oldest_seconds{queue="call_records"}': '1x60',
      'gazeway_queue_oldest_seconds{queue="webhooks"}': '1800x60',
    },
  },
  {
    alert: 'GazewayWebhooksGivenUp',
    series: { gazeway_webhooks_given_up: '1x60 3x60' },
    minutes: 61,
    labels: { severity: 'warning' },
    summary: '2 messages to the webhook were given up.',
    well: { gazeway_webhooks_given_up: '3x120' },
  },
  {
    alert: 'GazewaySweepOverdue',
    series: { 'gazeway_sweep_overdue_seconds{sweep="calls"}': '8000x60' },
    minutes: 10,
    labels: { sweep: 'calls', severity: 'warning' },
    summary: 'The sweep calls is overdue by 2h 13m 20s.',
    well: { 'gazeway_sweep_overdue_seconds{sweep="calls"}': '600x60' },
  },
  {
    alert: 'GazewayPoolFull',
    series: { 'gazeway_store_connections{state="waiting",instance="a"}': '3x60' },
    minutes: 5,
    labels: { state: 'waiting', ...HERE, severity: 'warning' },
    summary: '3 requests of a wait for a connection to PostgreSQL: raise pool_size.',
    well: { 'gazeway_store_connections{state="used",instance="a"}': '16x60' },
  },
  {
    alert: 'GazewayEventLoopSlow',
    series: { 'nodejs_eventloop_lag_p99_seconds{instance="a"}': '0.2x60' },
    minutes: 5,
    labels: { ...HERE, severity: 'warning' },
    summary: 'a has too much to do: run another gateway on the store.',
    well: { 'nodejs_eventloop_lag_p99_seconds{instance="a"}': '0.05x60' },
  },
]

/** Has promtool evaluate the rules over series, a sample a minute. @returns what differs; empty when nothing does */
function evaluate(tests: object[]): string {
  const file = join(folder, 'alerts.yaml')
  writeFileSync(file, JSON.stringify({ rule_files: [RULES], evaluation_interval: '1m', tests }))
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' })
  return status === 0 ? '' : stdout + stderr
}

const inputs = (series: Record<string, string>) =>
  Object.entries(series).map(([name, values]) => ({ series: name, values }))

describe('deploy/prometheus-alerts.yaml', { skip }, () => {
  it('has a case here for each of its rules', () => {
    const { groups } = yaml.load(readFileSync(RULES, 'utf8')) as { groups: { rules: { alert: string }[] }[] }
    assert.deepEqual(
      groups.flatMap(({ rules }) => rules.map(({ alert }) => alert)),
      CASES.map(({ alert }) => alert),
    )
  })

  for (const { alert, series, minutes, labels, summary } of CASES)
    it(`${alert} fires in time, and says what is wrong`, () => {
      const fires = { exp_labels: labels, exp_annotations: { summary } }
      const at = (time: number, exp_alerts: object[]) => ({ eval_time: `${time}m`, alertname: alert, exp_alerts })
      const before = minutes > 0 ? [at(minutes - 1, [])] : []
      const test = { interval: '1m', input_series: inputs(series), alert_rule_test: [...before, at(minutes, [fires])] }
      assert.equal(evaluate([test]), '')
      assert.match(evaluate([{ ...test, alert_rule_test: [at(minutes, [])] }]), /FAILED/, 'the tool compares')
    })

  it('is silent where all is well', () => {
    const series = Object.assign({}, ...CASES.map(({ well }) => well))
    const quiet = (minutes: number) =>
      CASES.map(({ alert }) => ({ eval_time: `${minutes}m`, alertname: alert, exp_alerts: [] }))
    const test = { interval: '1m', input_series: inputs(series), alert_rule_test: [...quiet(30), ...quiet(58)] }
    assert.equal(evaluate([test]), '')
  })
})
