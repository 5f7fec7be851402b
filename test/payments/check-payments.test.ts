import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { evm, Mppx } from 'mppx/client'
import { toHex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { runDoctor } from '../../adapters/command/doctor.ts'
import { createChain } from '../../src/chain/chain.ts'
import { loadConfig } from '../../src/config/config.ts'
import { Config } from '../../src/config/config-schema.ts'
import { createLog } from '../../src/config/log.ts'
import type { GazewayError } from '../../src/errors.ts'
import { checkPayments } from '../../src/payments/check-payments.ts'
import { loadMethods } from '../../src/payments/methods.ts'
import { paymentSettings } from '../../src/payments/payment-settings.ts'
import type { FailedPayment } from '../../src/payments/payments.ts'
import { openStore } from '../../src/store/open-store.ts'
import type { Store } from '../../src/store/store.ts'
import { type Anvil, KEYS, startAnvil } from '../chain/anvil.ts'
import { rpc } from '../chain/rpc.ts'
import { deployToken, type Token } from '../chain/token.ts'
import { startPaidApp } from './paid-app.ts'

const CHAIN_ID = 31_337
const PRICE = 90_000n

describe('what payments need', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gazeway-payments-'))
  const storeUrl = `sqlite:${join(folder, 'store.db')}`
  const poor = generatePrivateKey()
  let anvil: Anvil
  let token: Token
  let store: Store

  before(async () => {
    anvil = await startAnvil({ chainId: CHAIN_ID })
    token = await deployToken(anvil)
    store = await openStore(storeUrl)
  })
  after(async () => {
    await store.close()
    await anvil.stop()
    rmSync(folder, { recursive: true })
  })

  function configuration(
    of: { evm?: object; mpp?: object; key?: string } = {},
  ): Pick<Config, 'mpp' | 'wallet' | 'chain'> {
    const { name: token_name, version: token_version } = token.domain
    return Config.parse({
      wallet: { private_key: of.key ?? KEYS[0] },
      mpp: {
        enabled: true,
        secret_key: 'x'.repeat(32),
        recipient: `0x${'aa'.repeat(20)}`,
        evm: { chain_id: CHAIN_ID, rpc_url: anvil.url, token: token.address, token_name, token_version, ...of.evm },
        ...of.mpp,
      },
    })
  }

  async function check(of: Parameters<typeof configuration>[0] = {}): Promise<string> {
    const config = configuration(of)
    const settings = paymentSettings(config)
    const chain = createChain({ store, config, now: () => new Date(), onError: assert.ifError })
    return checkPayments(settings, await loadMethods(settings, chain))
  }
  const rejects = (of: Parameters<typeof configuration>[0], code: string, why: RegExp) =>
    assert.rejects(check(of), (error: GazewayError) => {
      assert.equal(error.code, code)
      assert.match(`${error.message} ${error.cause}`, why)
      return true
    })

  /** One who pays, and asks for a reply. */
  async function pay(url: string): Promise<Response> {
    const account = privateKeyToAccount(generatePrivateKey())
    await token.mint(account.address, PRICE)
    return Mppx.create({ methods: [evm.charge({ account, authorization: token.domain })], polyfill: false }).fetch(url)
  }

  /** Cause of the last failed payment, for the operator. */
  function causeOf(failed: readonly FailedPayment[]): string {
    const failure = failed.at(-1)
    assert.ok(failure?.error instanceof Error && failure.error.cause instanceof Error)
    return failure.error.cause.message
  }

  it('is found where all is right', async () => {
    assert.match(await check(), /taken with evm \(chain 31337\): "Test USD" version "2"; 0xf39f.* coins for gas/)
  })

  it('is a token that is there, of the right decimals, chain and name', async () => {
    await rejects({ evm: { token: `0x${'1'.repeat(40)}` } }, 'config_invalid', /no contract at 0x1111.*mpp\.evm\.token/)
    await rejects({ evm: { decimals: 18 } }, 'config_invalid', /has 6 decimals, not 18.*mpp\.evm\.decimals/)
    await rejects({ evm: { chain_id: 1 } }, 'config_invalid', /on chain 31337, not 1.*mpp\.evm\.rpc_url/)
    for (const wrong of [{ token_name: 'USD Coin' }, { token_version: '1' }])
      await rejects(
        { evm: wrong },
        'config_invalid',
        /refuses.*it calls itself "Test USD" version "2".*mpp\.evm\.token_name/,
      )
  })

  it('is gas, and a node', async () => {
    await rejects({ key: poor }, 'payments_paused', /has no gas for a payment/)
    await rejects({ evm: { rpc_url: 'http://127.0.0.1:9' } }, 'upstream_unreachable', /mpp\.evm\.rpc_url/)
    await rejects({ evm: { max_gas_per_hour: 0.000000001 } }, 'payments_paused', /max_gas_per_hour/)
  })

  it('is gas in the words of doctor, too', async () => {
    const { secret_key, ...mpp } = configuration().mpp
    writeFileSync(join(folder, 'config.json'), JSON.stringify({ mpp }), { mode: 0o600 })
    const env = { GAZEWAY_HOME: folder, GAZEWAY_WALLET_PRIVATE_KEY: poor, GAZEWAY_MPP_SECRET_KEY: secret_key ?? '' }
    const loaded = await loadConfig({ env, flags: { upstream: 'sandbox' }, cwd: folder })
    const lines: string[] = []
    await runDoctor(loaded, createLog({ level: 'silent', secrets: () => loaded.secrets }), (line) => lines.push(line))
    const said = lines.find((line) => line.includes(' payments ')) ?? ''
    assert.match(said, /^FAIL {2}payments +0x\w+ has no gas for a payment on chain 31337\. Fund it\.$/)
  })

  it('is a price that covers the gas', async () => {
    await rejects(
      { mpp: { amount_usd: 0.000001 } },
      'config_invalid',
      /mpp\.amount_usd is 0\.000001 USD.*0\.01 or more/,
    )
    await rejects({ mpp: { min_deposit_usd: 0.000001 } }, 'config_invalid', /mpp\.min_deposit_usd/)
    await rejects(
      { evm: { coin_usd: 1_000_000 } },
      'config_invalid',
      /mpp\.amount_usd is 0\.09 USD, but a payment costs up to \d/,
    )
    assert.match(await check({ evm: { coin_usd: 0.01 } }), /taken with/)
  })

  it('is asked for before the first payment where the node could not be asked at the start', async (t) => {
    const app = await startPaidApp(storeUrl, configuration({ evm: { decimals: 18 } }))
    t.after(() => app.close())
    assert.equal((await pay(`${app.url}/v1/echo`)).status, 502)
    assert.match(causeOf(app.failed), /has 6 decimals, not 18/)
    assert.equal(app.served(), 0)
  })

  it('is not waited for: without gas a payer is refused at once, and the operator reads why', async (t) => {
    await rpc(anvil.url, 'anvil_setBalance', [privateKeyToAccount(poor).address, toHex(10n ** 18n)])
    const app = await startPaidApp(storeUrl, configuration({ key: poor }))
    t.after(() => app.close())
    assert.equal((await pay(`${app.url}/v1/echo`)).status, 200)
    await rpc(anvil.url, 'anvil_setBalance', [privateKeyToAccount(poor).address, '0x0'])
    const response = await pay(`${app.url}/v1/echo`)
    assert.equal(response.status, 503)
    assert.ok(Number(response.headers.get('retry-after')) > 0)
    assert.match(causeOf(app.failed), /cannot pay the gas/)
    const open = await store.db.selectFrom('payments').select('status').where('status', '=', 'freed').execute()
    assert.equal(open.length, 1, 'the credential can be used again')
  })

  it('is never more gas in an hour than is allowed, in all processes together', async (t) => {
    const key = generatePrivateKey()
    const { address } = privateKeyToAccount(key)
    await rpc(anvil.url, 'anvil_setBalance', [address, toHex(10n ** 18n)])
    const probe = await startPaidApp(storeUrl, configuration({ key }))
    assert.equal((await pay(`${probe.url}/v1/echo`)).status, 200)
    await probe.close()
    const signed = () =>
      store.db.selectFrom('chain_transactions').selectAll().where('address', '=', address.toLowerCase()).execute()
    const [one] = await signed()
    const each = (Number(one?.gas) * Number(one?.max_fee)) / 1e18
    // What the first has cost counts, too.
    const capped = configuration({ key, evm: { max_gas_per_hour: Number((3.5 * each).toFixed(9)) } })
    const apps = [await startPaidApp(storeUrl, capped), await startPaidApp(storeUrl, capped)] as const
    t.after(() => Promise.all(apps.map((app) => app.close())))
    const statuses: number[] = []
    for (const [i] of Array.from({ length: 6 }).entries())
      statuses.push((await pay(`${apps[i % 2 ? 0 : 1].url}/v1/echo`)).status)
    const spent = (await signed()).reduce((sum, { gas, max_fee }) => sum + (gas * max_fee) / 1e18, 0)
    assert.ok(spent <= 3.5 * each, `${spent} of ${3.5 * each}`)
    assert.ok(statuses.filter((status) => status === 503).length >= 3, String(statuses))
    assert.ok(statuses.includes(200), String(statuses))
  })
})
