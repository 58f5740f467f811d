import { Module } from '@nestjs/common';
import { TokensModule } from '../tokens/tokens.module';
import { UsersModule } from '../users/users.module';
import { BootstrapCommand } from './bootstrap.command';
import { FixedTokens } from './fixed-tokens';
import { FixedTokensCommand } from './fixed-tokens.command';

/** The first administrator of an instance, and tokens that an operator has chosen. */
@Module({ imports: [TokensModule, UsersModule], providers: [BootstrapCommand, FixedTokens, FixedTokensCommand] })
export class BootstrapModule {}
