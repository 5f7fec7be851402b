import { once } from 'node:events'
import { openStore } from '../../src/store/open-store.ts'
import { by, ONE_CALL, walletOn } from '../wallet/setup.ts'

/**
 * Makes metered calls one after the other until it is killed: `wallet-caller STORE-URL UPSTREAM-URL CALLER NAME`. Prints
 * the idempotency key before each call, and the receipt after it.
 */
const [url = '', upstream = '', caller = '', name = ''] = process.argv.slice(2)
const wallet = walletOn(await openStore(url), upstream)
const say = async (line: unknown) => {
  if (!process.stdout.write(`${JSON.stringify(line)}\n`)) await once(process.stdout, 'drain')
}
for (let i = 0; ; i++) {
  const key = `${name}-${i}`
  await say({ key })
  await say({ key, receipt: await wallet.meteredCall(ONE_CALL, by(caller, key)) })
}
