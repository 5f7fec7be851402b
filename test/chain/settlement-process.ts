import { openStore } from '../../src/store/open-store.ts'
import { type ChainSetup, chainOn } from './setup.ts'

/** Pays settlements until it is killed: `settlement-process STORE-URL SETUP`. Prints a line once it is at work. */
const [storeUrl = '', setup = ''] = process.argv.slice(2)
const chain = chainOn(await openStore(storeUrl), JSON.parse(setup) as ChainSetup)
chain.start()
process.stdout.write('at work\n')
