import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { LoggingMessageNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import { clientLog } from '../../adapters/stdio/client-log.ts'
import { progressListener } from '../../adapters/stdio/progress.ts'
import { createLog } from '../../src/config/log.ts'
import { holdTime } from './held-clock.ts'

describe('a log that the client hears', () => {
  async function connected() {
    const mcp = new McpServer({ name: 'test', version: '1' }, { capabilities: { logging: {} } })
    const lines: string[] = []
    const own = createLog({ level: 'warn', secrets: () => [], destination: { write: (line) => void lines.push(line) } })
    const client = new Client({ name: 'test', version: '1' })
    const heard: [level: string, data: unknown][] = []
    client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
      heard.push([params.level, params.data])
    })
    const [here, there] = InMemoryTransport.createLinkedPair()
    const log = clientLog(mcp, own)
    log.error('Before anyone listens.')
    await Promise.all([mcp.connect(here), client.connect(there)])
    return { log, client, heard, lines }
  }

  it('tells from the level on that the client chose, and its own stream from its own', async () => {
    const { log, client, heard, lines } = await connected()
    await client.setLoggingLevel('info')
    log.debug('Too fine.')
    log.info('Said.')
    log.warn('Warned.', { secret: 'stays here' })
    log.child({ part: 'store' }).error('Failed.')
    await client.ping()
    assert.deepEqual(heard, [
      ['info', { message: 'Said.' }],
      ['warning', { message: 'Warned.' }],
      ['error', { message: 'Failed.' }],
    ])
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).msg),
      ['Before anyone listens.', 'Warned.', 'Failed.'],
    )
  })

  it('does not mind that the client has gone', async () => {
    const { log, client, lines } = await connected()
    await client.close()
    log.error('To nobody.')
    assert.equal(JSON.parse(lines.at(-1) ?? '').msg, 'To nobody.')
  })
})

describe('progress', () => {
  function listen(progressToken?: string) {
    const sent: unknown[] = []
    const extra = { _meta: { progressToken }, sendNotification: async (message: unknown) => void sent.push(message) }
    return { sent, listener: progressListener(extra as never) }
  }

  it('is told only to a client that asked for it', () => {
    assert.equal(listen().listener, undefined)
  })

  it('is told at once, then not for each word', () => {
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

  it('tells what a model does besides, and always grows', (t) => {
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
