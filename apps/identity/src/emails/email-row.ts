/** An address beside the primary one, as the API shows it. */
export interface EmailRow {
  readonly id: number;
  readonly email: string;
  readonly confirmed_at: Date | null;
  readonly changed_at: Date;
}
