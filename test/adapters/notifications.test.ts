import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createClientLog, type Tell } from '../../adapters/stdio/client-log.ts'
import { progressListener } from '../../adapters/stdio/progress.ts'
import { createLog } from '../../src/config/log.ts'
import { holdTime } from './held-clock.ts'

describe('a log that the client hears', () => {
  function opened() {
    const lines: string[] = []
    const own = createLog({ level: 'warn', secrets: () => [], destination: { write: (line) => void lines.push(line) } })
    const written = () => lines.map((line) => JSON.parse(line).msg)
    return { ...createClientLog(own), written }
  }

  /** A client that notes what it is told. */
  function client() {
    const heard: [level: string, message: string][] = []
    const tell: Tell = async (level, { message }) => void heard.push([level, message])
    return { heard, tell }
  }

  it('tells every line and no field to a client of the whole connection', () => {
    const { log, tellAll, written } = opened()
    const { heard, tell } = client()
    log.error('Before anyone listens.')
    tellAll(tell)
    log.info('Said.')
    log.warn('Warned.', { secret: 'stays here' })
    log.child({ part: 'store' }).error('Failed.')
    assert.deepEqual(heard, [
      ['info', 'Said.'],
      ['warning', 'Warned.'],
      ['error', 'Failed.'],
    ])
    assert.deepEqual(written(), ['Before anyone listens.', 'Warned.', 'Failed.'])
  })

  it('tells a request what is written for it, also later and beside others', async () => {
    const { log, telling } = opened()
    const [one, other] = [client(), client()]
    const work = async (name: string) => {
      log.warn(`${name} begins.`)
      await new Promise(setImmediate)
      log.warn(`${name} ends.`)
    }
    await Promise.all([telling(one.tell, () => work('one')), telling(other.tell, () => work('other')), work('none')])
    assert.deepEqual(one.heard, [
      ['warning', 'one begins.'],
      ['warning', 'one ends.'],
    ])
    assert.deepEqual(other.heard, [
      ['warning', 'other begins.'],
      ['warning', 'other ends.'],
    ])
  })

  it('does not mind that the client has gone', () => {
    const { log, tellAll, written } = opened()
    tellAll(() => Promise.reject(new Error('Not connected')))
    log.error('To nobody.')
    assert.deepEqual(written(), ['To nobody.'])
  })
})

describe('progress', () => {
  function listen(progressToken?: string) {
    const sent: unknown[] = []
    const notify = async (message: unknown) => void sent.push(message)
    return { sent, listener: progressListener({ _meta: { progressToken }, notify } as never) }
  }

  it('is sent only to a client that asked for it', () => {
    assert.equal(listen().listener, undefined)
  })

  it('is sent at once, then not for each word', () => {
    const { sent, listener } = listen('token')
    for (let n = 0; n < 1000; n++) listener?.onText('word ')
    assert.ok(sent.length < 10, `${sent.length} notifications`)
    assert.deepEqual(sent[0], {
      method: 'notifications/progress',
      params: { progressToken: 'token', progress: 5, message: 'word ' },
    })
  })

  it('shows the newest of a long text, on one line', () => {
    const { sent, listener } = listen('token')
    listener?.onText(`${'x'.repeat(500)}\n\nend`)
    const { progress, message } = (sent[0] as { params: { progress: number; message: string } }).params
    assert.equal(progress, 505)
    assert.match(message, /^x{75} end$/)
  })

  it('reports searches and thoughts, and always grows', (t) => {
    const pass = holdTime(t)
    const { sent, listener } = listen('token')
    for (const tell of [
      () => listener?.onStep('searching the web'),
      () => listener?.onStep('searching the web'),
      () => listener?.onText('So.'),
      () => listener?.onStep('thinking'),
    ]) {
      tell()
      pass(1000)
    }
    assert.deepEqual(
      sent.map((message) => (message as { params: object }).params),
      [
        { progressToken: 'token', progress: 1, message: 'searching the web' },
        { progressToken: 'token', progress: 2, message: 'searching the web' },
        { progressToken: 'token', progress: 5, message: 'So.' },
        { progressToken: 'token', progress: 6, message: 'thinking' },
      ],
    )
  })

  it('shows whole characters, wherever the text is cut or a model pauses', () => {
    const { sent, listener } = listen('token')
    listener?.onText(`${'👋'.repeat(50)}a\ud83d`)
    const { message } = (sent[0] as { params: { message: string } }).params
    assert.equal(message, `${'👋'.repeat(39)}a`)
  })
})
