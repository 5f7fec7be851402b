import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, it } from 'node:test'
import { Ajv } from 'ajv'
import yaml from 'js-yaml'
import { VARIABLES } from '../../src/config/environment.ts'
import { httpSection } from '../../src/config/sections/http-section.ts'
import { newPlace, run } from './server.ts'

const CHART = resolve('deploy/helm/gazeway')
/** Go packages of Debian's golang-github-masterminds-sprig-dev and golang-gopkg-yaml.v3-dev. */
const GO_PATH = '/usr/share/gocode'
const NAMED = { secretName: 'gw-keys' }

interface KubernetesObject {
  apiVersion: string
  kind: string
  metadata: { name: string; labels: Record<string, string>; annotations?: Record<string, string> }
  // biome-ignore lint/suspicious/noExplicitAny: objects of several kinds
  spec: any
  data?: Record<string, string>
}

const isThere = (program: string, ...args: string[]) => spawnSync(program, args).status === 0
const hasHelm = isThere('helm', 'version')
const hasGo = isThere('go', 'version') && existsSync(join(GO_PATH, 'src/github.com/Masterminds/sprig'))

let renderer: string | undefined
/** Builds the renderer of test/e2e/helm-render once. */
function builtRenderer(): string {
  renderer ??= join(newPlace().temporary, 'helm-render')
  if (!existsSync(renderer))
    execFileSync('go', ['build', '-o', renderer, resolve('test/e2e/helm-render/main.go')], {
      env: { ...process.env, GO111MODULE: 'off', GOPATH: GO_PATH, GOCACHE: `${renderer}-cache`, GOFLAGS: '' },
    })
  return renderer
}

/** Renders the chart with values over its own: with Helm where it is installed, else with Go's templates as it does. */
function rendered(values: object): KubernetesObject[] {
  const options = { input: JSON.stringify(values), encoding: 'utf8', stdio: 'pipe' } as const
  const texts = hasHelm
    ? execFileSync('helm', ['template', 'gw', CHART, '--values', '-'], options).split(/^---$/m)
    : Object.entries<string>(JSON.parse(execFileSync(builtRenderer(), [CHART], options)))
        .filter(([name]) => name.endsWith('.yaml'))
        .map(([, text]) => text)
  return texts.map((text) => yaml.load(text) as KubernetesObject).filter(Boolean)
}

function only(objects: readonly KubernetesObject[], kind: string): KubernetesObject {
  const found = objects.filter((object) => object.kind === kind)
  assert.equal(found.length, 1, kind)
  return found[0] as KubernetesObject
}

const skip = !hasHelm && !hasGo && 'there is neither Helm nor Go with Sprig'

describe('the Helm chart', { skip }, () => {
  it('has objects that fit together', () => {
    const objects = rendered({
      ...NAMED,
      platform: true,
      serviceMonitor: monitored,
      ingress: { host: 'gw.example.com' },
    })
    assert.deepEqual(objects.map(({ kind }) => kind).sort(), [
      'Deployment',
      'Ingress',
      'Job',
      'PodDisruptionBudget',
      'Service',
      'ServiceMonitor',
    ])
    for (const { metadata } of objects) assert.equal(metadata.labels['app.kubernetes.io/instance'], 'gw')
    const { spec } = only(objects, 'Deployment')
    const pod = spec.template.metadata.labels
    const service = only(objects, 'Service')
    const selectors = [
      spec.selector.matchLabels,
      service.spec.selector,
      only(objects, 'PodDisruptionBudget').spec.selector.matchLabels,
      spec.template.spec.topologySpreadConstraints[0].labelSelector.matchLabels,
    ]
    const migration = only(objects, 'Job').spec.template.metadata.labels
    for (const selector of selectors) {
      assert.ok(selects(selector, pod), JSON.stringify(selector))
      assert.ok(!selects(selector, migration), 'a migration is no gateway')
    }
    const monitor = only(objects, 'ServiceMonitor').spec
    assert.ok(selects(monitor.selector.matchLabels, service.metadata.labels))
    // Prometheus' operator names the job after the service otherwise.
    const job = service.metadata.labels[monitor.jobLabel]
    assert.match(readFileSync('deploy/prometheus-alerts.yaml', 'utf8'), new RegExp(`up\\{job="${job}"\\}`))
    const ports = service.spec.ports.map(({ name }: { name: string }) => name)
    assert.ok(ports.includes(monitor.endpoints[0].port))
    const open = spec.template.spec.containers[0].ports.map(({ name }: { name: string }) => name)
    assert.deepEqual(ports, open)
    const route = only(objects, 'Ingress').spec.rules[0].http.paths[0].backend.service
    assert.deepEqual([route.name, ports.includes(route.port.name)], [service.metadata.name, true])
  })

  it('gives a gateway the time of its stop, and is done with it before it stops to listen', () => {
    for (const [unreadySeconds, drainSeconds] of [
      [httpSection().parse({}).unready_ms / 1000, httpSection().parse({}).drain_ms / 1000],
      [8, 600],
    ] as const) {
      const { spec } = only(rendered({ ...NAMED, unreadySeconds, drainSeconds }), 'Deployment').spec.template
      const [{ env, readinessProbe, livenessProbe }] = spec.containers
      assert.ok(spec.terminationGracePeriodSeconds >= unreadySeconds + drainSeconds + 15)
      const noticed = readinessProbe.periodSeconds * readinessProbe.failureThreshold + readinessProbe.timeoutSeconds
      assert.ok(noticed < unreadySeconds, `${noticed} s`)
      assert.deepEqual([readinessProbe.httpGet.path, livenessProbe.httpGet.path], ['/readyz', '/livez'])
      const value = (name: string) => env.find((one: { name: string }) => one.name === name)?.value
      assert.equal(value('GAZEWAY_UNREADY_MS'), String(unreadySeconds * 1000))
      assert.equal(value('GAZEWAY_DRAIN_MS'), String(drainSeconds * 1000))
    }
  })

  it('takes each time of a stop that the program takes', () => {
    const { unready_ms, drain_ms } = httpSection().unwrap().shape
    const schema = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8')).properties
    for (const [name, setting] of [
      ['unreadySeconds', unready_ms],
      ['drainSeconds', drain_ms],
    ] as const)
      for (const [bound, value] of [
        ['minimum', schema[name].minimum],
        ['maximum', schema[name].maximum],
      ] as const) {
        const beyond = bound === 'minimum' ? value - 1 : value + 1
        assert.deepEqual(
          [setting.safeParse(value * 1000).success, setting.safeParse(beyond * 1000).success],
          [true, false],
          name,
        )
      }
    const { spec } = only(rendered({ ...NAMED, unreadySeconds: 0 }), 'Deployment').spec.template
    const { env } = spec.containers[0]
    assert.equal(env.find(({ name }: { name: string }) => name === 'GAZEWAY_UNREADY_MS').value, '0')
    assert.ok(spec.terminationGracePeriodSeconds >= 30 + 15)
  })

  it('warns of a time that is over before a probe sees it', { skip: !hasGo && 'there is no Go with Sprig' }, () => {
    const notes = (values: object) =>
      JSON.parse(
        execFileSync(builtRenderer(), [CHART], { input: JSON.stringify({ ...NAMED, ...values }), encoding: 'utf8' }),
      )['NOTES.txt']
    assert.match(notes({ unreadySeconds: 0 }), /unreadySeconds is 0, and the readiness probe takes up to 4 s/)
    assert.doesNotMatch(notes({}), /unreadySeconds/)
  })

  it('leaves a gateway that may be evicted, so that a node can be drained', () => {
    const budget = (values: object) => only(rendered({ ...NAMED, ...values }), 'PodDisruptionBudget').spec.minAvailable
    assert.equal(budget({ replicas: 3, minAvailable: 2 }), 2)
    assert.equal(budget({ minAvailable: '50%' }), '50%')
    assert.equal(budget({ replicas: 3, minAvailable: '66%' }), '66%')
    assert.equal(budget({ minAvailable: '0%' }), '0%')
    // Kubernetes rounds up: 51 % of two are two, 67 % of three are three.
    for (const [replicas, minAvailable] of [
      [2, 2],
      [2, 3],
      [2, '51%'],
      [3, '67%'],
      [2, '100%'],
      [2, '150%'],
    ] as const)
      assert.throws(() => rendered({ ...NAMED, replicas, minAvailable }), /minAvailable: must be less than replicas/)
    const alone = rendered({ ...NAMED, replicas: 1 })
    assert.ok(!alone.some(({ kind }) => kind === 'PodDisruptionBudget'))
  })

  it('runs as nobody, with nothing that it does not need', () => {
    const objects = rendered({ ...NAMED, config: { log: { level: 'warn' } } })
    for (const { template } of [only(objects, 'Deployment').spec, only(objects, 'Job').spec]) {
      assert.equal(template.spec.securityContext.runAsNonRoot, true)
      assert.equal(template.spec.automountServiceAccountToken, false)
      for (const container of [...template.spec.containers, ...(template.spec.initContainers ?? [])])
        assert.deepEqual(container.securityContext, {
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        })
    }
  })

  it('puts configuration and signing key into the data folder, and restarts the gateways with a change', () => {
    const of = (values: object) => rendered({ ...NAMED, ...values })
    const config = { upstreams: { local: { base_url: 'http://llm:8000/v1' } } }
    const objects = of({ config, signingKeySecret: 'gw-signing' })
    const { template } = only(objects, 'Deployment').spec
    assert.deepEqual(JSON.parse(only(objects, 'ConfigMap').data?.['config.json'] ?? ''), config)
    const { projected } = template.spec.volumes.find(({ name }: { name: string }) => name === 'files')
    assert.deepEqual(projected.sources, [
      { configMap: { name: only(objects, 'ConfigMap').metadata.name } },
      { secret: { name: 'gw-signing', items: [{ key: 'signing-key.json', path: 'signing-key.json' }] } },
    ])
    const sum = (rendering: KubernetesObject[]) =>
      only(rendering, 'Deployment').spec.template.metadata.annotations['checksum/config']
    assert.notEqual(sum(objects), sum(of({ config: {} })))
    const bare = only(of({}), 'Deployment').spec.template.spec
    assert.equal(bare.initContainers, undefined)
    const home = bare.containers[0].env.find(({ name }: { name: string }) => name === 'GAZEWAY_HOME').value
    assert.ok(template.spec.initContainers[0].command.at(-1).endsWith(` ${home}`))
  })

  it('takes the image by its digest, and variables of the configuration', () => {
    const digest = `sha256:${'0'.repeat(64)}`
    const [env] = [{ GAZEWAY_UPSTREAM: 'xai', GAZEWAY_LOG_LEVEL: 'warn' }]
    const objects = rendered({ ...NAMED, image: { repository: 'registry.example/gazeway', digest }, env })
    const [container] = only(objects, 'Deployment').spec.template.spec.containers
    assert.equal(container.image, `registry.example/gazeway@${digest}`)
    for (const { name, value } of container.env) {
      assert.ok(name in VARIABLES || name === 'GAZEWAY_HOME', name)
      assert.equal(typeof value, 'string')
    }
    const tagged = only(rendered(NAMED), 'Deployment').spec.template.spec.containers[0].image
    assert.equal(tagged, `gazeway:${JSON.parse(readFileSync('package.json', 'utf8')).version}`)
  })

  it('migrates the store with the command that there is, before the gateways of a release start', async () => {
    const job = only(rendered(NAMED), 'Job')
    assert.equal(job.metadata.annotations?.['helm.sh/hook'], 'pre-install,pre-upgrade')
    const place = newPlace({ withoutStore: true })
    const { args } = job.spec.template.spec.containers[0]
    for (const done of [/tables of this version/, /tables of this version/]) {
      const { code, stdout } = await run(place, args)
      assert.equal(code, 0)
      assert.match(stdout, done)
    }
    assert.equal(rendered({ ...NAMED, migrate: false }).filter(({ kind }) => kind === 'Job').length, 0)
  })
})

const monitored = { enabled: true, keySecret: { name: 'gw-admin', key: 'token' } }

describe('values of the Helm chart', () => {
  const schema = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8'))
  const check = new Ajv({ strict: false }).compile(schema)
  const defaults = yaml.load(readFileSync(join(CHART, 'values.yaml'), 'utf8')) as Record<string, object>

  it('are those of its schema, each of them', () => {
    assert.ok(check({ ...defaults, ...NAMED }), JSON.stringify(check.errors))
    const { global: _, ...described } = schema.properties
    assert.deepEqual(Object.keys(described).sort(), Object.keys(defaults).sort())
    assert.ok(check({ ...defaults, ...NAMED, minAvailable: '50%', serviceMonitor: monitored }))
  })

  for (const [what, values] of [
    ['no secret', {}],
    ['a name that is not there', { ...NAMED, replica: 3 }],
    ['no gateway', { ...NAMED, replicas: 0 }],
    ['a digest that is none', { ...NAMED, image: { repository: 'gazeway', digest: 'sha256:abc' } }],
    ['a variable that cannot be one', { ...NAMED, env: { 'gazeway-upstream': 'xai' } }],
    ['a time that is no number', { ...NAMED, drainSeconds: '30s' }],
    ['a time of less than nothing', { ...NAMED, unreadySeconds: -1 }],
    ['a monitor without a key', { ...NAMED, serviceMonitor: { enabled: true } }],
    ['a monitor with an empty key', { ...NAMED, serviceMonitor: { enabled: true, keySecret: { name: '', key: '' } } }],
  ] as const)
    it(`are refused with ${what}`, () => {
      assert.equal(check({ ...defaults, ...values }), false)
    })
})

const selects = (selector: Record<string, string>, labels: Record<string, string>): boolean =>
  Object.entries(selector).every(([name, value]) => labels[name] === value)
