import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { createLog, type LogLevel } from '../../src/config/log.ts'
import { GazewayError } from '../../src/errors.ts'
import { bundledProgram } from '../doubles/bundled-program.ts'

const LINES = bundledProgram(fileURLToPath(new URL('log-lines.ts', import.meta.url)))
const ODD_LINES = fileURLToPath(new URL('log-odd-lines.ts', import.meta.url))

function collected(level: LogLevel, secrets: readonly string[] = []) {
  const lines: string[] = []
  const log = createLog({ level, secrets: () => secrets, destination: { write: (line) => lines.push(line) } })
  return { log, lines, parsed: () => lines.map((line) => JSON.parse(line)) }
}

function startLogging(count: number) {
  return spawn(process.execPath, [LINES, String(count)])
}

describe('createLog', () => {
  it('writes a JSON line with level, time and fields', () => {
    const { log, parsed } = collected('info')
    log.info('listening', { port: 8811 })
    const [line] = parsed()
    assert.match(line.time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.deepEqual({ ...line, time: 0 }, { level: 'info', time: 0, pid: process.pid, port: 8811, msg: 'listening' })
  })

  it('leaves out what is less important than its level', () => {
    const expected: Record<LogLevel, string[]> = {
      debug: ['debug', 'info', 'warn', 'error'],
      info: ['info', 'warn', 'error'],
      warn: ['warn', 'error'],
      error: ['error'],
      silent: [],
    }
    for (const level of Object.keys(expected) as LogLevel[]) {
      const { log, parsed } = collected(level)
      for (const kind of ['debug', 'info', 'warn', 'error'] as const) log[kind](kind)
      assert.deepEqual(
        parsed().map((line) => line.msg),
        expected[level],
      )
    }
  })

  it('tells the fields of a child in each of its lines', () => {
    const { log, parsed } = collected('info')
    const child = log.child({ surface: 'stdio' }).child({ tool: 'x' })
    child.debug('no')
    child.warn('yes', { n: 1 })
    const [line, ...rest] = parsed()
    assert.deepEqual([line.surface, line.tool, line.n, line.msg], ['stdio', 'x', 1, 'yes'])
    assert.deepEqual(rest, [])
  })

  it('shows an error with its code, stack and cause', () => {
    const { log, parsed } = collected('error')
    log.error('failed', { err: new GazewayError('store_full', 'The disk is full.', { cause: new Error('ENOSPC') }) })
    assert.equal(parsed()[0].err.code, 'store_full')
    assert.match(parsed()[0].err.stack, /ENOSPC/)
  })

  it('keeps secrets out of messages, fields, errors and children, however they are written', () => {
    const { log, lines, parsed } = collected('info', ['team-secret', 'with"quote\\s'])
    log.info('got team-secret', { nested: { deep: ['team-secret', 'with"quote\\s'] } })
    log.error('failed', { err: new Error('with"quote\\s refused') })
    log.child({ caller: 'team-secret' }).info('x', { headers: { Authorization: 'Bearer unknown-to-us-1' } })
    log.info('unknown', { headers: { authorization: 'Basic dTpw', cookie: 'a=b' }, url: 'postgres://me:pw@db/x' })
    assert.equal(parsed().length, 4)
    assert.doesNotMatch(lines.join(''), /team-secret|with\\*"quote|unknown-to-us|dTpw|a=b|:pw@/)
  })

  it('knows a secret from the moment it is configured', () => {
    const secrets: string[] = []
    const { log, lines } = collected('info', secrets)
    log.info('new-secret')
    secrets.push('new-secret')
    log.info('new-secret')
    assert.match(lines[0] ?? '', /new-secret/)
    assert.doesNotMatch(lines[1] ?? '', /new-secret/)
  })

  it('survives fields that JSON cannot carry', () => {
    const { log, parsed } = collected('info')
    const circular: Record<string, unknown> = { big: 1n }
    circular.self = circular
    log.info('odd', { circular })
    assert.equal(parsed()[0].msg, 'odd')
  })

  it('writes to stderr before the call returns, and nothing to stdout', async () => {
    const child = startLogging(3)
    child.stdin.end()
    const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
    assert.equal(code, 0)
    assert.equal(out, 'still here\n')
    assert.deepEqual(
      err
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).msg),
      ['line 0 of ***', 'line 1 of ***', 'line 2 of ***'],
    )
  })

  it('continues when stderr is closed', async () => {
    const child = startLogging(10_000)
    child.stderr.destroy()
    child.stdin.end()
    const [out, [code, signal]] = await Promise.all([text(child.stdout), once(child, 'exit')])
    assert.deepEqual([out, code, signal], ['still here\n', 0, null])
  })

  it('continues when the reader of stderr stalls, and loses nothing when it resumes', async () => {
    const child = startLogging(10_000)
    const [said] = await once(child.stdout, 'data')
    assert.equal(String(said), 'still here\n')
    const [err] = await Promise.all([text(child.stderr), child.stdin.end('go on')])
    const messages = err
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).msg)
    assert.equal(messages.length, 10_001)
    assert.equal(messages.at(-1), 'the last')
  })
})

describe('a log that finds no pino, for Gazeway was removed while it ran', () => {
  let folder: string
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'gazeway-log-'))
    const outfile = join(folder, 'lines.mjs')
    await build({
      entryPoints: [ODD_LINES],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      external: ['pino'],
    })
  })
  after(() => rmSync(folder, { recursive: true }))

  it('writes the same lines, without secrets', async () => {
    const child = spawn(process.execPath, [join(folder, 'lines.mjs')])
    const [err, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')])
    assert.equal(code, 0, err)
    const [plain, failed, odd, ...rest] = err
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    assert.deepEqual({ ...plain, time: 0 }, { level: 'warn', time: 0, pid: child.pid, tool: 'x', n: 1, msg: 'got ***' })
    assert.match(plain.time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.match(failed.err, /store_full.*ENOSPC/s)
    assert.deepEqual([odd.level, odd.msg], ['info', 'odd'])
    assert.match(odd.fields, /big: 1n/)
    assert.deepEqual(rest, [])
    assert.doesNotMatch(err, /team-secret/)
  })
})
