import { Module } from '@nestjs/common';
import { Owns } from '@rookery/persistence';
import { DirectoryModule } from '../directory/directory.module';
import { UsersModule } from '../users/users.module';
import { AccountMailsController } from './account-mails/account-mails.controller';
import { AccountMailFactsService } from './account-mails/account-mails.service';
import { DependencyExportMailFacts } from './account-mails/export-mails';
import { AddedAddressMailFacts } from './account-mails/added-address-mails';
import { LeftOutGistMailFacts } from './account-mails/left-out-mails';
import { ConfirmationMailFacts } from './confirming/confirmation-mails';
import { EmailConfirmationRequestCount } from './confirming/email-confirmation-count.entity';
import { EmailConfirmationController } from './confirming/email-confirmation.controller';
import { EmailConfirmationsService } from './confirming/email-confirmations.service';
import { EmailsController } from './emails.controller';
import { EmailsQueries } from './emails.queries';
import { EmailsService } from './emails.service';
import { NotificationEmailsController } from './notification-emails.controller';
import { NotificationEmailsService } from './notification-emails.service';
import { PrimaryEmails } from './primary-emails';
import { UserEmailsController } from './user-emails.controller';

/** E-mail addresses of users: adding and confirming them, and the contents of account e-mails. */
@Owns(EmailConfirmationRequestCount)
@Module({
  imports: [DirectoryModule, UsersModule],
  controllers: [
    EmailsController,
    UserEmailsController,
    EmailConfirmationController,
    AccountMailsController,
    NotificationEmailsController,
  ],
  providers: [
    EmailsQueries,
    EmailsService,
    EmailConfirmationsService,
    NotificationEmailsService,
    PrimaryEmails,
    AccountMailFactsService,
    ConfirmationMailFacts,
    DependencyExportMailFacts,
    AddedAddressMailFacts,
    LeftOutGistMailFacts,
  ],
  exports: [PrimaryEmails, AccountMailFactsService, EmailConfirmationsService],
})
export class EmailsModule {}
