import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isProxyUrl, proxyFor } from '../../src/wire/proxy-choice.ts'

const PROXY = 'http://proxy.test:3128'
const originFor = (address: string, env: Record<string, string>) => proxyFor(address, null, env)?.origin ?? null

describe('the proxy of an address', () => {
  it('is that of its scheme, else that of all, in lower case before upper case', () => {
    const env = { HTTPS_PROXY: 'http://s.test', HTTP_PROXY: 'http://p.test', ALL_PROXY: 'http://a.test' }
    assert.equal(originFor('https://api.x.ai/v1', env), 'http://s.test')
    assert.equal(originFor('http://api.x.ai/v1', env), 'http://p.test')
    assert.equal(originFor('http://api.x.ai/v1', { all_proxy: 'a.test:8080' }), 'http://a.test:8080')
    assert.equal(originFor('https://api.x.ai/v1', { ...env, https_proxy: 'http://lower.test' }), 'http://lower.test')
    assert.equal(originFor('https://api.x.ai/v1', { ...env, https_proxy: '' }), null, 'an empty variable: no proxy')
    assert.equal(originFor('https://api.x.ai/v1', { HTTP_PROXY: PROXY }), null)
    assert.deepEqual(proxyFor('https://api.x.ai', null, { HTTPS_PROXY: 'http://me:p%40ss@proxy.test:3128' }), {
      origin: PROXY,
      authorization: `Basic ${Buffer.from('me:p@ss').toString('base64')}`,
      source: 'HTTPS_PROXY',
    })
  })

  it('is none for hosts that NO_PROXY names: domains, ports, addresses, ranges, all', () => {
    const cases: [noProxy: string, host: string, isProxied: boolean][] = [
      ['x.ai', 'x.ai', false],
      ['x.ai', 'api.x.ai', false],
      ['x.ai', 'notx.ai', true],
      ['x.ai', 'API.X.AI.', false],
      ['.x.ai', 'x.ai', false],
      ['*.x.ai', 'api.x.ai', false],
      ['x.ai:443', 'api.x.ai', false],
      ['x.ai:8443', 'api.x.ai', true],
      ['x.ai:8443', 'api.x.ai:8443', false],
      ['a.test, x.ai', 'api.x.ai', false],
      ['a.test x.ai', 'api.x.ai', false],
      ['*', 'api.x.ai', false],
      ['10.0.0.0/8', '10.1.2.3', false],
      ['10.0.0.0/8', '11.1.2.3', true],
      ['10.0.0.0/8', '10.example.com', true],
      ['10.0.0.0/99', '10.1.2.3', true],
      ['10.1.2.3', '10.1.2.3', false],
      ['10.1.2.3:8443', '10.1.2.3:8443', false],
      ['2.3', '10.1.2.3', true],
      ['fd00::/8', '[fd12::1]', false],
      ['[fd12::1]:8443', '[fd12::1]:8443', false],
      ['fd12::1', '[fd12::2]', true],
      [',', 'api.x.ai', true],
    ]
    for (const [noProxy, host, isProxied] of cases) {
      const found = originFor(`https://${host}/v1`, { HTTPS_PROXY: PROXY, NO_PROXY: noProxy })
      assert.equal(found, isProxied ? PROXY : null, `${noProxy} and ${host}`)
    }
    assert.equal(originFor('https://x.ai', { HTTPS_PROXY: PROXY, NO_PROXY: 'x.ai', no_proxy: 'y.ai' }), PROXY)
  })

  it('is none for this machine, wherever the proxy is named', () => {
    for (const host of [
      'localhost',
      'api.localhost',
      '127.0.0.1',
      '127.8.8.8',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '0.0.0.0',
    ])
      for (const configured of [null, { value: PROXY, setting: 'upstream.proxy' }])
        assert.equal(proxyFor(`http://${host}:8000`, configured, { HTTP_PROXY: PROXY }), null, host)
  })

  it('is that of the configuration before those of the environment and NO_PROXY', () => {
    const env = { HTTPS_PROXY: PROXY, NO_PROXY: '*' }
    const own = { value: 'http://own.test:1', setting: 'upstreams.x.proxy' }
    assert.deepEqual(proxyFor('https://x.ai', own, env), {
      origin: 'http://own.test:1',
      authorization: null,
      source: 'upstreams.x.proxy',
    })
    assert.equal(proxyFor('https://x.ai', { ...own, value: 'none' }, { HTTPS_PROXY: PROXY }), null)
  })

  it('is refused without its value where it is no HTTP proxy', () => {
    for (const [value, expected] of [
      ['socks5h://me:hunter22@proxy.test:1080', /^ALL_PROXY names a SOCKS proxy, which is not supported\. Set it to /],
      ['http://me:hunter22@proxy test', /^ALL_PROXY is not the address of a proxy\./],
    ] as const)
      assert.throws(
        () => proxyFor('https://x.ai', null, { ALL_PROXY: value }),
        (error: Error) => expected.test(error.message) && !error.message.includes('hunter22'),
      )
  })

  it('may be configured with credentials, and without a path', () => {
    assert.ok(isProxyUrl('https://me:secret@proxy.test'))
    for (const text of ['proxy.test:3128', 'socks5://proxy.test', 'http://proxy.test/path', 'http://proxy.test?a=b'])
      assert.equal(isProxyUrl(text), false, text)
  })
})
