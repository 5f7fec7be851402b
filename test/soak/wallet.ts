import { walletKills } from '../faults/wallet-kills.ts'

walletKills(100)
