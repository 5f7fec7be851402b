import { settlementKills } from '../chain/settlement-kills.ts'

settlementKills(100)
