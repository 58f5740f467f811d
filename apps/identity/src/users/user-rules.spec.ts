import { Text } from '@rookery/api-v4';
import type { ExactInput } from '@rookery/kernel';
import type { UserChange } from './changing/user-changes.service';
import { columnsOfUser, problemsOfUser } from './user-rules';
import type { NewUser } from './user-rules';
import { CreateUser, UpdateUser } from './users.dto';

/** A parameter that no rule handles does not compile. */
type UnusedParameters = 'reset_password' | 'force_random_password' | 'skip_confirmation';
class CreateColoured extends CreateUser implements ExactInput<NewUser, CreateColoured, UnusedParameters> {
  // @ts-expect-error no rule handles the colour
  @Text({ optional: true }) colour?: string;
}
class UpdateColoured
  extends UpdateUser
  implements ExactInput<UserChange, UpdateColoured, 'id' | 'skip_reconfirmation'>
{
  // @ts-expect-error no rule handles the colour
  @Text({ optional: true }) colour?: string;
}

describe('fields of a user', () => {
  it('are mapped to columns and to the profile if they were sent', () => {
    const sent = { id: 7, username: 'wren', admin: true, public_email: '', bio: 'Sings.', theme_id: 3 };
    expect(columnsOfUser(sent)).toEqual({ admin: true, publicEmail: null, profile: { bio: 'Sings.', theme_id: 3 } });
    expect(columnsOfUser({})).toEqual({ profile: {} });
  });

  it('are measured in characters', () => {
    const ofLength = (length: number) => ({ name: '\u{1F95A}'.repeat(length), bio: '\u{1F95A}'.repeat(length) });
    const tooLong = ['is too long (maximum is 255 characters)'];
    expect(problemsOfUser(ofLength(255))).toEqual({});
    expect(problemsOfUser(ofLength(256))).toEqual({ name: tooLong, bio: tooLong });
    expect(problemsOfUser({ password: '\u{1F95A}'.repeat(8) })).toEqual({});
    expect(problemsOfUser({ password: '\u{1F95A}'.repeat(7) })).toEqual({
      password: ['is too short (minimum is 8 characters)'],
    });
  });

  it('are ignored if no rule handles them', () => {
    const sent = { constructor: 'x', colour: 'red' };
    expect(columnsOfUser(sent as Partial<NewUser>)).toEqual({ profile: {} });
    expect([CreateColoured, UpdateColoured]).toHaveLength(2);
  });
});
