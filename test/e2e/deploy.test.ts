import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import yaml from 'js-yaml'
import { httpSection } from '../../src/config/sections/http-section.ts'
import { until } from '../doubles/until.ts'
import { startGatewayProcess } from './gateway-process.ts'
import { finish, newPlace, run } from './server.ts'

const { unready_ms, drain_ms } = httpSection().parse({})
/** The longest stop by defaults: 5 s for the last writes of replies and 10 s for call records, in seconds. */
const LONGEST_STOP_S = (unready_ms + drain_ms) / 1000 + 15

const seconds = (text: unknown): number => Number(/^(\d+)s$/.exec(String(text))?.[1] ?? assert.fail(String(text)))

describe('Dockerfile', () => {
  it('checks its health by readiness', async () => {
    const command = /^HEALTHCHECK [\s\S]*?CMD (\[.*\])$/m.exec(readFileSync('Dockerfile', 'utf8'))?.[1]
    const [, ...args] = JSON.parse(command ?? assert.fail()) as string[]
    const gateway = await startGatewayProcess(newPlace(), {
      args: ['--upstream', 'sandbox'],
      env: { GAZEWAY_UNREADY_MS: '600000' },
    })
    const check = async () => {
      const there = args.map((arg) => arg.replace('http://127.0.0.1:8811', gateway.url))
      return (await finish(spawn(process.execPath, there))).code
    }
    assert.equal(await check(), 0)
    gateway.kill('SIGTERM')
    await until(async () => (await check()) === 1)
    gateway.kill('SIGKILL')
    await gateway.exit
    assert.equal(await check(), 1, 'and where nobody listens')
  })
})

describe('deploy/compose.yaml', () => {
  const { services } = yaml.load(readFileSync('deploy/compose.yaml', 'utf8')) as {
    services: Record<string, Record<string, unknown>>
  }
  const gateways = Object.values(services).filter(({ image }) => image === 'gazeway')

  it('gives gateways the time of a stop, and nothing that they do not need', () => {
    assert.equal(gateways.length, 2)
    for (const gateway of gateways) {
      assert.ok(seconds(gateway.stop_grace_period) >= LONGEST_STOP_S, `${gateway.stop_grace_period}`)
      assert.deepEqual(
        [gateway.read_only, gateway.cap_drop, gateway.security_opt],
        [true, ['ALL'], ['no-new-privileges:true']],
      )
    }
  })

  it('bounds memory and processes of each service, and gives it the few capabilities that its start needs', () => {
    for (const [name, service] of Object.entries(services)) {
      assert.deepEqual([service.cap_drop, service.security_opt], [['ALL'], ['no-new-privileges:true']], name)
      assert.match(String(service.mem_limit), /^\d+[mg]$/, name)
      assert.ok(Number(service.pids_limit) > 0, name)
    }
    const { postgres, balancer } = services
    assert.deepEqual([balancer?.read_only, balancer?.cap_add], [true, ['NET_BIND_SERVICE']])
    assert.deepEqual(postgres?.cap_add, ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'SETGID', 'SETUID'])
  })

  it('takes each image of others by its digest through a variable, for which the documentation has a command', () => {
    const dockerfile = readFileSync('Dockerfile', 'utf8')
    const bases = [...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image)
    assert.deepEqual(bases, ['${NODE_IMAGE}', '${NODE_IMAGE}'])
    const images = Object.values(services).flatMap(({ image, build }) =>
      image === 'gazeway' ? Object.entries((build as { args: Record<string, string> }).args) : [[null, String(image)]],
    )
    const named = new Map(
      images.map(([arg, image]) => {
        const [, variable = '', tag = ''] =
          /^\$\{([A-Z]+_IMAGE):-(\S+)\}$/.exec(image ?? '') ?? assert.fail(image ?? '')
        assert.ok(arg === null || arg === variable, `${arg}`)
        return [variable, tag]
      }),
    )
    assert.deepEqual([...named.keys()].sort(), ['CADDY_IMAGE', 'NODE_IMAGE', 'POSTGRES_IMAGE'])
    assert.equal(/^ARG NODE_IMAGE=(\S+)$/m.exec(dockerfile)?.[1], named.get('NODE_IMAGE'))
    const page = readFileSync('docs/reference/store.md', 'utf8')
    for (const [variable, tag] of named)
      assert.ok(page.includes(`export ${variable}=${tag.split(':')[0]}@$(digest ${tag})\n`), variable)
  })

  it('has a balancer that leaves a gateway before it stops to listen', () => {
    const balancer = readFileSync('deploy/Caddyfile', 'utf8')
    const setting = (name: string) => new RegExp(`^\\t+${name} (\\S+)$`, 'm').exec(balancer)?.[1]
    assert.equal(setting('health_uri'), '/readyz')
    const noticed = seconds(setting('health_interval')) + seconds(setting('health_timeout'))
    assert.ok(noticed * 1000 < unready_ms, `${noticed} s`)
  })
})

describe('deploy/gazeway.service', () => {
  const unit = readFileSync('deploy/gazeway.service', 'utf8')
  const setting = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1] ?? assert.fail(name)

  it('gives the service the time of a stop', () => {
    assert.ok(Number(setting('TimeoutStopSec')) >= LONGEST_STOP_S)
  })

  it('starts a command that there is', async () => {
    const [program, ...args] = setting('ExecStart').split(' ')
    assert.equal(program, '/usr/bin/gazeway')
    // The last flag is refused before anything starts; an unknown one before it would be named in its place.
    const { code, stderr } = await run(newPlace(), [...args, '--port', 'http'])
    assert.equal(code, 2)
    assert.match(stderr, /^gazeway: .*--port.*65535/)
  })

  const noSystemd = spawnSync('systemd-analyze', ['--version']).status !== 0 && 'there is no systemd'
  it('has no fault that systemd knows', { skip: noSystemd }, () => {
    const folder = join(newPlace().home, 'units')
    mkdirSync(folder)
    const file = join(folder, 'gazeway.service')
    const verify = (text: string) => {
      // The command and the user are those of the machine that it is installed on.
      const here = text.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`).replace(/^User=.*$/m, 'User=root')
      writeFileSync(file, here)
      const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' })
      return stderr.split('\n').filter((line) => line.includes('gazeway.service'))
    }
    assert.deepEqual(verify(unit), [])
    assert.match(verify(unit.replace('KillMode=', 'KilMode=')).join('\n'), /KilMode/)
  })
})
