import { Check, Column, Entity, PrimaryColumn } from 'typeorm';

/** An e-mail address that mail servers refused since the last accepted e-mail. Source: reference reliability 2.7. */
@Entity('suspect_addresses')
@Check('ck_suspect_addresses_refusals', 'refusals > 0')
export class SuspectMailAddress {
  /** SHA-256 of the address in lower case, in hex. The row names no user; it expires instead of being deleted with one. */
  @PrimaryColumn({ type: 'text', primaryKeyConstraintName: 'pk_suspect_addresses' }) digest: string;
  /** Refusals in a row. */
  @Column({ type: 'integer' }) refusals: number;
  @Column({ type: 'timestamptz', precision: 3, default: () => 'now()' }) refusedAt: Date;
}
