import { settlementKills } from './settlement-kills.ts'

settlementKills(10)
