import { Text } from '@rookery/api-v4';
import type { NothingBut } from '@rookery/kernel';
import type { UserChange } from './changing/user-changes.service';
import { columnsOfUser, problemsOfUser } from './user-rules';
import type { NewUser } from './user-rules';
import { CreateUser, UpdateUser } from './users.dto';

/** A parameter that nothing takes up does not compile. */
type Aside = 'reset_password' | 'force_random_password' | 'skip_confirmation';
class CreateColoured extends CreateUser implements NothingBut<NewUser, CreateColoured, Aside> {
  // @ts-expect-error nothing takes up the colour
  @Text({ optional: true }) colour?: string;
}
class UpdateColoured
  extends UpdateUser
  implements NothingBut<UserChange, UpdateColoured, 'id' | 'skip_reconfirmation'>
{
  // @ts-expect-error nothing takes up the colour
  @Text({ optional: true }) colour?: string;
}

describe('what is said of a user', () => {
  it('goes to columns and to the profile, as far as it was sent', () => {
    const sent = { id: 7, username: 'wren', admin: true, public_email: '', bio: 'Sings.', theme_id: 3 };
    expect(columnsOfUser(sent)).toEqual({ admin: true, publicEmail: null, profile: { bio: 'Sings.', theme_id: 3 } });
    expect(columnsOfUser({})).toEqual({ profile: {} });
  });

  it('is measured in characters', () => {
    const said = (length: number) => ({ name: '\u{1F95A}'.repeat(length), bio: '\u{1F95A}'.repeat(length) });
    const tooLong = ['is too long (maximum is 255 characters)'];
    expect(problemsOfUser(said(255))).toEqual({});
    expect(problemsOfUser(said(256))).toEqual({ name: tooLong, bio: tooLong });
    expect(problemsOfUser({ password: '\u{1F95A}'.repeat(8) })).toEqual({});
    expect(problemsOfUser({ password: '\u{1F95A}'.repeat(7) })).toEqual({
      password: ['is too short (minimum is 8 characters)'],
    });
  });

  it('goes nowhere when nothing takes it up', () => {
    const sent = { constructor: 'x', colour: 'red' };
    expect(columnsOfUser(sent as Partial<NewUser>)).toEqual({ profile: {} });
    expect([CreateColoured, UpdateColoured]).toHaveLength(2);
  });
});
