"""Names to speak under."""

NAMES = tuple(
    "Adam Agnes Aisha Alma Amara Andre Anita Arjun Astrid Beatriz Bilal Bridget Bruno Calvin "
    "Carmen Cedric Clara Colin Dalia Damian Daphne Darius Delia Dmitri Edgar Edith Elias Elif "
    "Elsa Emre Enzo Erik Esme Fabio Felicity Fern Finn Flora Frida Gareth Gemma Gideon Greta "
    "Gunnar Hanna Harold Hassan Hazel Hector Helen Hiro Ida Ilse Imran Inez Irene Isaac Ivy "
    "Jasper Joan Joel Johanna Jorge Judith Kaito Kamal Karin Kenji Kira Klaus Lara Leila Lena "
    "Lionel Lorenzo Lucia Ludwig Lydia Magnus Malik Manuel Margot Marta Mateo Maya Mehmet Mila "
    "Minh Miriam Mona Nadine Naoko Nathan Nico Nina Nolan Odette Olaf Orla Otto Paloma Pascal "
    "Pavel Pedro Pia Pilar Rafael Rana Regina Renata Rhea Rita Robin Roland Rosalie Ruben Sabine "
    "Salma Samir Selma Silas Simone Sofia Soren Stella Sunita Tamara Tariq Thea Theo Tobias Tove "
    "Ulla Valentina Vikram Viola Wanda Wesley Wilma Xenia Yasmin Yvonne Zainab Zelda".split()
)
