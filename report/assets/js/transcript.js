// transcript
